package check

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
)

var (
	// mayBeUnquoted matches a text in which a value begins with a character that YAML does not read as text.
	mayBeUnquoted = regexp.MustCompile(`:[ \t]+[#&!]`)
	// unquotedValue matches a line that begins with such a value, after its key.
	unquotedValue = regexp.MustCompile(`^[^#"']*?:[ \t]+([#&!])[^\s]`)
)

// unquoted warns about nulls in encrypted documents where a secret was probably written, but not quoted. It does not
// quote it either. Errors are those of the budget.
func (r *run) unquoted(ctx context.Context, draft changes.Draft) error {
	for i, doc := range draft.Documents {
		segment := *r.items[i].Segment
		if !mayBeUnquoted.Match(segment.Text) {
			continue
		}
		entry, err := document.Decode(ctx, segment, r.limits)
		if err != nil || document.Locate(entry.Value, []string{"metadata", "storagePolicy"}) != "encrypted" {
			continue
		}
		paths := appendNulls(nil, document.Locate(entry.Value, []string{"data"}), []string{"data"})
		positions, err := document.Positions(r.meter, segment, paths)
		if err != nil {
			return err
		}
		for _, at := range positions {
			if found := unquotedValue.FindSubmatch(r.raw(r.of[i], at.Line)); found != nil {
				r.add(Finding{
					Place: r.place(r.of[i], at), Level: queries.LevelWarning, Rule: ruleUnquoted,
					Document: doc.Identity, Bucket: doc.Bucket,
					Message: fmt.Sprintf("The value is null: what begins with '%s' is not read as text", found[1]),
					Advice:  adviceOf(ruleUnquoted),
				})
			}
		}
	}
	return nil
}

// appendNulls appends the paths of the first nulls in a value.
func appendNulls(paths [][]string, value any, path []string) [][]string {
	const most = 100
	below := func(step string, value any) {
		if len(paths) < most {
			paths = appendNulls(paths, value, append(slices.Clip(path), step))
		}
	}
	switch value := value.(type) {
	case nil:
		return append(paths, path)
	case document.Mapping:
		for _, member := range value {
			below(member.Key, member.Value)
		}
	case []any:
		for i, item := range value {
			below(strconv.Itoa(i), item)
		}
	}
	return paths
}
