package queries

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
	"purser/internal/revisions"
)

// A value contains a text if one of its scalars does, ignoring case.
func TestSearchText_isIn(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"a", "B", `"`, `\`, "\n", "\x01", ":", "{", ",", "Ü", "ſ", "1", "n", "u", " "})
	texts := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "") })
	var values *rapid.Generator[any]
	values = rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return []any{values.Draw(t, "item"), texts.Draw(t, "text")}
		case 1:
			return document.Mapping{{Key: texts.Draw(t, "key"), Value: values.Draw(t, "value")}, {Key: "b", Value: true}}
		case 2:
			return document.Number("11.1")
		case 3:
			return nil
		}
		return texts.Draw(t, "text")
	})
	var isIn func(text string, value any) bool
	isIn = func(text string, value any) bool {
		switch v := value.(type) {
		case []any:
			return slices.ContainsFunc(v, func(item any) bool { return isIn(text, item) })
		case document.Mapping:
			return slices.ContainsFunc(v, func(m document.Member) bool { return isIn(text, m.Value) })
		case string:
			return strings.Contains(strings.ToLower(v), strings.ToLower(text))
		}
		return strings.Contains(string(document.AppendJSON(nil, value)), strings.ToLower(text))
	}
	rapid.Check(t, func(t *rapid.T) {
		value, wanted := values.Draw(t, "value"), texts.Draw(t, "wanted")
		doc := &revisions.Stored{Document: &document.Document{
			Metadata: []byte(`{"storagePolicy":"cleartext"}`), Data: document.AppendJSON(nil, value),
		}}
		if diff := cmp.Diff(isIn(wanted, value), newSearchText(wanted).isIn(doc)); diff != "" {
			t.Fatalf("%q in %s (-want +got):\n%s", wanted, doc.Data, diff)
		}
	})
}
