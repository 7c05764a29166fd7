package queries

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/validations"
)

// Counts are the numbers of the findings that match a query, whether or not an answer lists them.
type Counts struct {
	Total    int  // of all, each once although several validations report it
	Failures int  // of those that are not likely mistakes
	Others   int  // of those that are not about a document
	More     bool // there may be others, so that each number is the least one possible
	// Causes are the first maxCauses groups of similar findings, the worst and largest first; Groups is the number of all.
	Causes []Cause
	Groups int
	// Numbers has those of each validation with findings, also of the findings that another one reports too.
	Numbers map[Counted]Number
}

// Counted is the group in which a finding is counted.
type Counted struct {
	Validation string
	Level      Level
}

// maxCauses is the maximum number of causes in Counts.
const maxCauses = 50

// Cause is a group of findings of one validation that break the same rule at the same place of documents of one schema.
type Cause struct {
	First Finding
	Number
}

// ID identifies the cause among those of all revisions.
func (c Cause) ID() string { return c.First.kind().id() }

// Number counts findings. More reports whether there may be others, and Unnamed whether some are about unknown
// documents.
type Number struct {
	Findings, Documents int
	More, Unnamed       bool
}

// count returns the numbers of the findings of the level that a query asks for: of those reported, and of those without
// repetitions. more reports whether others were not read.
func count(reported, different []Finding, query FindingsQuery, more bool) Counts {
	ofLevel := func(list []Finding) []Finding {
		return slices.DeleteFunc(slices.Clone(list), func(f Finding) bool { return !query.asksForLevel(f) })
	}
	counts, all := Counts{More: more}, ofLevel(different)
	unlisted := map[string]int{} // by validation
	for _, f := range all {
		switch {
		case f.Unlisted > 0:
			unlisted[f.Validation] += f.Unlisted
			continue
		case f.Document == (document.Identity{}):
			counts.Others++
		}
		if counts.Total++; !f.Mistake {
			counts.Failures++
		}
	}
	total, failures := 0, 0 // beyond those that are listed
	for name, others := range unlisted {
		repeatable, hidden := notOf(name, different, reported)
		total, failures = max(total, others-repeatable-hidden), max(failures, others-repeatable)
		counts.More = counts.More || repeatable+hidden > 0 || len(unlisted) > 1
	}
	counts.Failures += failures
	counts.Total = max(counts.Total+total, counts.Failures)
	counts.Numbers = numbers(ofLevel(reported), more)
	counts.Causes, counts.Groups = causes(all, more)
	return counts
}

// numbers returns the numbers of each validation.
func numbers(reported []Finding, more bool) map[Counted]Number {
	groups := map[Counted][]Finding{}
	for _, f := range reported {
		of := Counted{f.Validation, f.Level}
		groups[of] = append(groups[of], f)
	}
	all := make(map[Counted]Number, len(groups))
	for of, group := range groups {
		number, documents := Number{More: more}, map[document.Identity]bool{}
		for _, f := range withoutRepeated(group) {
			number.Findings += max(f.Unlisted, 1)
			number.Unnamed = number.Unnamed || f.Unlisted > 0
			documents[f.Document] = true
		}
		delete(documents, document.Identity{})
		number.Documents = len(documents)
		all[of] = number
	}
	return all
}

// notOf returns the number of findings about documents, of any level, that a validation did not list, and may repeat
// among those of which it only gave the number; and the number of likely mistakes that these may hide.
func notOf(validation string, all, reported []Finding) (repeatable, hidden int) {
	listed, cut := map[findingKey]bool{}, map[document.Identity]bool{}
	for _, f := range reported {
		switch {
		case f.Validation != validation:
		case f.Unlisted > 0:
			cut[f.Document] = true
		default:
			listed[f.key()] = true
		}
	}
	for _, f := range all {
		switch {
		case f.Document == (document.Identity{}) || listed[f.key()] || listed[f.keyWithoutPath()] || f.Unlisted > 0:
		case !f.Mistake:
			repeatable++
		case cut[f.Document]:
			hidden++
		}
	}
	return repeatable, hidden
}

// leavesOut reports whether a validation of the whole revision only gives the number of findings that may match a
// query. About which documents these are is not known.
func (q FindingsQuery) leavesOut(all []Finding) bool {
	q.Document = ""
	return slices.ContainsFunc(all, func(f Finding) bool {
		return f.Unlisted > 0 && f.Document == (document.Identity{}) && q.asksFor(f) && q.asksForLevel(f)
	})
}

// onlyCounted returns an error that stands for all errors of a document.
func onlyCounted(errs []validations.Error) []validations.Error {
	if len(errs) == 0 {
		return nil
	}
	all := errs[0]
	all.Unlisted = 0
	for _, e := range errs {
		all.Unlisted += max(1, e.Unlisted)
	}
	return []validations.Error{all}
}

// kind identifies a group of similar findings.
type kind struct {
	level                                     Level
	validation, schema, rule, place, saidOnly string
}

// id returns a digest of the group.
func (k kind) id() string {
	const size = 8
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q", k.level, []string{
		k.validation, k.schema, k.rule, k.place, k.saidOnly,
	}))
	return hex.EncodeToString(sum[:size])
}

// kind returns the group of a finding. Findings without a rule are similar if they have the same message.
func (f *Finding) kind() kind {
	k := kind{level: f.Level, validation: f.Validation, schema: f.Document.Schema, rule: f.Rule, place: shape(f.Path)}
	if f.Rule == "" {
		k.saidOnly = f.Message
	}
	return k
}

// shape returns a path with a star for each position in a list.
func shape(path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if part != "" && strings.Trim(part, "0123456789") == "" {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}

// causes returns the first groups of similar findings, and the number of all.
func causes(all []Finding, more bool) (first []Cause, groups int) {
	type pair struct {
		place int
		about document.Identity
	}
	var found []Cause
	places, known := map[kind]int{}, map[pair]bool{}
	for _, f := range all {
		if f.Unlisted > 0 {
			continue
		}
		place, ok := places[f.kind()]
		if !ok {
			place = len(found)
			places[f.kind()] = place
			found = append(found, Cause{f, Number{More: more}})
		}
		found[place].Findings++
		if at := (pair{place, f.Document}); f.Document != (document.Identity{}) && !known[at] {
			known[at] = true
			found[place].Documents++
		}
	}
	slices.SortStableFunc(found, func(a, b Cause) int {
		return cmp.Or(a.First.compareRank(&b.First), cmp.Compare(b.Findings, a.Findings))
	})
	return found[:min(len(found), maxCauses)], len(found)
}
