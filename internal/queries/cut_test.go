package queries

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/revisions"
	"purser/internal/validations"
)

// Documents that are only counted, because the list of errors is full, are not counted twice where another validation
// repeats their errors, whatever the levels of both, or warns of them.
func TestChoose_cut(t *testing.T) {
	t.Parallel()
	const schema, rendering = validations.SchemaValidation, validations.RenderingValidation
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string, most int) int { return rapid.IntRange(0, most).Draw(t, what) }
		ofSchema, ofRendering := Level(draw("level", 1)), Level(draw("other level", 1))
		var whole, cut []Finding
		for i := range 1 + draw("documents", 2) {
			var own []Finding
			for k := range draw("errors", 2) {
				own = append(own, Finding{Level: ofSchema, Validation: schema, Document: hostNamed(i), Message: strconv.Itoa(k), Path: ".x"})
			}
			whole = append(whole, own...)
			if len(own) > 0 && rapid.Bool().Draw(t, "cut") {
				own = []Finding{{Level: ofSchema, Validation: schema, Document: hostNamed(i), Message: "more", Unlisted: len(own)}}
			}
			cut = append(cut, own...)
			for k := range draw("repeated", 3) {
				f := Finding{Level: ofRendering, Validation: rendering, Document: hostNamed(i), Message: strconv.Itoa(k)}
				if f.Path = rapid.SampledFrom([]string{"", ".x"}).Draw(t, "path"); draw("mistake", 4) == 0 {
					f.Level, f.Mistake = LevelWarning, true
				}
				whole, cut = append(whole, f), append(cut, f)
			}
		}
		query := FindingsQuery{
			Level:      rapid.SampledFrom([]string{"", ofSchema.String()}).Draw(t, "asked level"),
			Validation: rapid.SampledFrom([]string{"", schema}).Draw(t, "asked validation"),
		}
		want := chooseFindings(revisions.RevisionStatus{}, slices.Clone(whole), false, query)
		got := chooseFindings(revisions.RevisionStatus{}, slices.Clone(cut), false, query)
		if got.Total > want.Total || got.Failures > want.Failures || got.Total < got.Failures ||
			!got.More && got.Total != want.Total {
			t.Fatalf("%d findings, %d failures, more %v; the whole list has %d and %d\n%v\n%v", got.Total, got.Failures, got.More,
				want.Total, want.Failures, whole, cut)
		}
	})
}
