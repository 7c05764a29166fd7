package queries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Described is a revision with its verdict, the data of its tags, and what was around it when it was read.
type Described struct {
	revisions.RevisionStatus

	TagData []revisions.Tag
	Around  *Around // nil if unknown
}

// Around are the numbers of the revisions before and after a revision, 0 if there is none, and how the policies in
// force in it are weaker than those of the one before, as validations.Weakened returns it.
type Around struct {
	Previous, Next int64
	Weakened       []string
}

// Show returns a revision and its current verdict. Faults: NotFound, Gone.
func (v View) Show(ctx context.Context, id int64) (revisions.RevisionStatus, error) {
	evidence, err := v.evidence(ctx, id)
	if err != nil {
		return revisions.RevisionStatus{}, err
	}
	return v.status(evidence), nil
}

// Describe is Show with the data of the tags, and with what is around the revision.
func (v View) Describe(ctx context.Context, id int64) (Described, error) {
	near, err := v.store.Around(ctx, id)
	if err != nil {
		return Described{}, fmt.Errorf("find what is around revision %d: %w", id, err)
	}
	evidence, err := v.store.Evidence(ctx, []int64{near.Previous, id})
	if err != nil {
		return Described{}, fmt.Errorf("read revision: %w", err)
	}
	evidence.Revisions = slices.DeleteFunc(evidence.Revisions, func(r revisions.Revision) bool { return r.ID != id })
	if len(evidence.Revisions) == 0 {
		return Described{}, revisions.Absent(ctx, v.store, id)
	}
	weakened := validations.Weakened(revisions.InForce(evidence.Policies, near.Previous),
		revisions.InForce(evidence.Policies, id))
	found := Described{RevisionStatus: v.status(evidence), Around: &Around{near.Previous, near.Next, weakened}}
	if len(found.Tags) > 0 {
		if found.TagData, err = v.store.Tags(ctx, id); err != nil {
			return Described{}, fmt.Errorf("read tags: %w", err)
		}
	}
	return found, nil
}

// Listed is a page of revisions.
type Listed struct {
	Revisions []revisions.RevisionStatus
	More      bool             // there are others after the limit
	Purged    *revisions.Purge // the last purge, nil if there was none
}

// List returns the revisions that match a query, with their verdicts. A page ends early if they are large.
func (v View) List(ctx context.Context, query Query) (Listed, error) {
	limit := query.Limit
	if limit >= 0 {
		query.Limit++ // one more than wanted, to see whether there are more
	}
	numbers, purged, err := v.store.List(ctx, query)
	if err != nil {
		return Listed{}, fmt.Errorf("list revisions: %w", err)
	}
	listed := Listed{Purged: purged}
	if limit >= 0 && len(numbers) > limit {
		listed.More, numbers = true, numbers[:limit]
	}
	evidence, err := v.store.Evidence(ctx, numbers)
	if err != nil {
		return Listed{}, fmt.Errorf("read revisions: %w", err)
	}
	byNumber := map[int64]revisions.Revision{}
	for _, revision := range evidence.Revisions {
		byNumber[revision.ID] = revision
	}
	spent, size := budget.NewMeter(ctx), 0
	for _, number := range numbers {
		revision, ok := byNumber[number]
		if !ok { // it was deleted meanwhile
			continue
		}
		shown := v.statusOf(revision, evidence)
		bytes := shownSize(shown)
		if size += bytes; limit >= 0 && size > maxRead && len(listed.Revisions) > 0 {
			listed.More = true
			break
		}
		if err := spent.Hold(bytes); err != nil {
			return Listed{}, budget.About(err, "list revision %d", number)
		}
		listed.Revisions = append(listed.Revisions, shown)
	}
	return listed, nil
}

// shownSize returns about the number of bytes that a revision takes in a list.
func shownSize(shown revisions.RevisionStatus) int {
	const revision, name, copies = 500, 150, 4 // a name is also part of a URL, escaped
	size := revision + len(shown.Message) + len(shown.Source)
	for _, text := range slices.Concat(shown.Buckets, shown.Tags) {
		size += len(text)
	}
	lists := [][]validations.Judged{shown.Verdict.Reported, shown.Verdict.Ignored}
	for _, policy := range shown.Verdict.Policies {
		size += revision
		lists = append(lists, policy.Validations)
	}
	for _, list := range lists {
		for _, judged := range list {
			size += name + copies*len(judged.Name)
		}
	}
	return size
}

// evidence reads a revision and the facts that its verdict is based on. Faults: NotFound, Gone.
func (s *Service) evidence(ctx context.Context, id int64) (Evidence, error) {
	evidence, err := s.store.Evidence(ctx, []int64{id})
	if err != nil {
		return Evidence{}, fmt.Errorf("read revision: %w", err)
	}
	if len(evidence.Revisions) == 0 {
		return Evidence{}, revisions.Absent(ctx, s.store, id)
	}
	return evidence, nil
}

// evidenceOf is evidence for a revision named as for Resolve, in one round trip.
func (s *Service) evidenceOf(ctx context.Context, id string) (Evidence, error) {
	return s.evidenceWith(ctx, id, false)
}

// evidenceWith is evidenceOf, with the validators of outcomes if these are asked for.
func (s *Service) evidenceWith(ctx context.Context, id string, validators bool) (Evidence, error) {
	name, ok := parseName(id)
	name.Validators = validators
	if !ok {
		return Evidence{}, unknown(id)
	}
	evidence, err := s.store.EvidenceOf(ctx, name)
	switch {
	case err != nil:
		return Evidence{}, fmt.Errorf("read revision %q: %w", revisions.Truncate(id), err)
	case len(evidence.Revisions) > 0:
		return evidence, nil
	case name.Number != 0:
		return Evidence{}, revisions.Absent(ctx, s.store, name.Number)
	}
	return Evidence{}, unknown(id)
}

// status returns the revision that some evidence is about with its current verdict.
func (v View) status(evidence Evidence) revisions.RevisionStatus {
	return v.statusOf(evidence.Revisions[0], evidence)
}

// statusOf returns one of the revisions in evidence with its current verdict.
func (v View) statusOf(revision revisions.Revision, evidence Evidence) revisions.RevisionStatus {
	policies := revisions.PoliciesOf(revision, evidence.Policies)
	known := evidence.Known[revision.ID]
	if v.unwaived {
		known.Waivers = nil
	}
	verdict := v.defaults.Verdict(policies, revision, known, evidence.Now)
	if at, ok := verdict.NextChange(); ok {
		v.lasts(at, evidence.Now)
	}
	return revisions.RevisionStatus{Revision: revision, Verdict: verdict}
}

// lasts records when a verdict changes, for Noting.
func (v View) lasts(until, now time.Time) {
	left := until.Add(time.Millisecond).Sub(now) // the verdict still holds at until
	if v.fresh != nil && (*v.fresh == 0 || left < *v.fresh) {
		*v.fresh = left
	}
}

// Status returns a revision, named as for Resolve, and its current verdict with the first messages of those validations
// of the server that failed. Faults: NotFound, Gone.
func (v View) Status(ctx context.Context, id string) (revisions.RevisionStatus, error) {
	evidence, err := v.evidenceOf(ctx, id)
	if err != nil {
		return revisions.RevisionStatus{}, err
	}
	shown := v.status(evidence)
	if shown.Verdict.Warnings, err = v.warnings(ctx, shown); err != nil {
		return shown, err
	}
	all := [][]validations.Judged{shown.Verdict.Reported}
	for _, policy := range shown.Verdict.Policies {
		all = append(all, policy.Validations)
	}
	messages := map[string]string{}
	for _, list := range all { // the lists are not shared
		for i, judged := range list {
			if judged.Status != validations.Failure || !validations.IsOwn(judged.Name) {
				continue
			}
			if _, known := messages[judged.Name]; !known {
				if messages[judged.Name], err = v.firstMessage(ctx, shown.Revision, judged); err != nil {
					return shown, err
				}
			}
			list[i].Message = cmp.Or(messages[judged.Name], judged.Message)
		}
	}
	shown.Verdict = shown.Verdict.WithAdvice()
	return shown, nil
}

// firstMessage returns the first message of a failed validation, "" if it is unknown.
func (v View) firstMessage(ctx context.Context, revision revisions.Revision, judged validations.Judged) (
	string, error,
) {
	switch {
	case judged.Name == validations.SchemaValidation, judged.Name == validations.SchemaValidationAlias:
		if !revision.Failed {
			return "", nil
		}
		return v.firstOfSchemas(ctx, revision)
	case isOfRevision(judged.Name) && authz.IsWithheld(judged.Message):
		if !v.viewer.Secrets() {
			return v.viewer.Withheld(), nil
		}
		result, err := v.revealed(ctx, revision, judged.Name, true)
		if err != nil || len(result.Messages) == 0 {
			return "", err
		}
		return result.Messages[0].Message, nil
	}
	return judged.Message, nil
}

// firstOfSchemas returns the first message of the failed schema validation of a revision, "" if there is none.
func (v View) firstOfSchemas(ctx context.Context, revision revisions.Revision) (string, error) {
	found, err := v.described(ctx, revision, EntryQuery{Limit: 1, FailuresOnly: true, Open: !v.viewer.Encrypted})
	if err != nil {
		return "", err
	}
	reports, err := v.renderer.Report(ctx, v.viewer, found, false)
	switch {
	case err != nil:
		return "", err
	case len(reports) > 0 && len(reports[0]) > 0:
	case !revision.SecretFails:
		return "", nil
	case v.viewer.Encrypted:
		return validations.Joined, nil
	default:
		return v.viewer.Withheld(), nil
	}
	first := reports[0][0]
	if first.Message == validations.Sanitized {
		return validations.Unquoted(first.SchemaPath), nil
	}
	return first.Message, nil
}

// ShowTag returns a tag of a revision. Faults: NotFound for the revision, else for the tag; Gone.
func (v View) ShowTag(ctx context.Context, revision int64, name string) (revisions.Tag, error) {
	tags, err := v.Tags(ctx, revision, name)
	if err != nil {
		return revisions.Tag{}, err
	}
	if len(tags) == 0 {
		return revisions.Tag{}, revisions.UnknownTag(revision, name)
	}
	return tags[0], nil
}

// Tags returns the tags of a revision with the given names, all of them if none is given, sorted. Faults: NotFound,
// Gone.
func (v View) Tags(ctx context.Context, revision int64, names ...string) ([]revisions.Tag, error) {
	tags, err := v.store.Tags(ctx, revision, names...)
	if err != nil {
		return nil, fmt.Errorf("read tags: %w", err)
	}
	if len(tags) > 0 {
		return tags, nil
	}
	_, err = v.Stamp(ctx, revision)
	return nil, err
}

// latest is the name of the newest revision; tagPrefix is the prefix of names of tagged ones.
const latest, tagPrefix = "latest", "tag:"

// Name identifies a revision. The zero Name is the newest one.
type Name struct {
	Number int64 // 0 for a revision that is not identified by number
	ByTag  bool  // the newest revision with Tag
	Tag    string
	// Validators asks for the validators of outcomes too, which verdicts do not need.
	Validators bool
}

// parseName parses a number, "latest" or "tag:NAME"; ok is false if no revision can have the name.
func parseName(id string) (name Name, ok bool) {
	if id == latest {
		return Name{}, true
	}
	if tag, isTag := strings.CutPrefix(id, tagPrefix); isTag {
		return Name{ByTag: true, Tag: tag}, true
	}
	name.Number = parseNumber(id)
	return name, name.Number != 0
}

// Resolve returns the number of a revision that is named by number, as "latest", or as "tag:NAME" for the newest one
// with that tag. It does not check that a numbered revision exists. Fault: NotFound.
func (v View) Resolve(ctx context.Context, id string) (number int64, err error) {
	name, ok := parseName(id)
	switch {
	case !ok || name.Number != 0:
		number = name.Number
	case name.ByTag:
		number, err = v.store.Tagged(ctx, name.Tag)
	default:
		number, err = v.store.Latest(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("find revision %q: %w", revisions.Truncate(id), err)
	}
	if number == 0 {
		return 0, unknown(id)
	}
	return number, nil
}

// unknown returns the fault for a revision that does not exist, by its number or name.
func unknown(id string) error {
	var reason string
	switch {
	case id == latest:
		reason = ": there is no revision yet; the first change makes one"
	case strings.HasPrefix(id, tagPrefix):
		reason = ": no revision has the tag"
	case !IsRevision(id):
		return revisions.UnknownName(id)
	default:
		return revisions.UnknownRevision(id).Hint(
			"A revision is named by its number, from 1 on, without a sign and without zeros before it.")
	}
	return fault.New(fault.NotFound, "RevisionNotFound", "%w%s", revisions.UnknownRevision(id), reason)
}

// IsRevision reports whether a string has the form of a revision's name, or is an integer.
func IsRevision(id string) bool {
	_, err := strconv.ParseInt(id, 10, 64)
	return err == nil || errors.Is(err, strconv.ErrRange) || id == latest || strings.HasPrefix(id, tagPrefix)
}

// parseNumber parses a revision number. It returns 0 for numbers that no revision can have.
func parseNumber(id string) int64 {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil || number < 1 || strconv.FormatInt(number, 10) != id { // +1 and 01 are not names
		return 0
	}
	return number
}
