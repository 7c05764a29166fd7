package queries

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

func hostNamed(i int) document.Identity {
	return document.Identity{Schema: "acme/Host/v1", Layer: "site", Name: fmt.Sprintf("h%05d", i)}
}

// listed returns the errors of a rendering validation of documents as they are stored: the first thousand and a count.
func listed(t *testing.T, first, last int) (errs []json.RawMessage) {
	t.Helper()
	var messages []fault.Message
	for i := first; i < last; i++ {
		id := hostNamed(i)
		messages = append(messages, fault.Message{
			Message: "too large", Path: ".data.rack", Documents: []fault.Document{{Schema: id.Schema, Layer: id.Layer, Name: id.Name}},
		})
	}
	for _, message := range (authz.Viewer{Encrypted: true}).Listed(messages) {
		text, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		errs = append(errs, text)
	}
	return errs
}

// All findings are counted, however many an answer lists and of however many a validation only gives the number. A total
// is the least possible one if validations may repeat each other.
func TestChoose_counts(t *testing.T) {
	t.Parallel()
	const schema, rendering = validations.SchemaValidation, validations.RenderingValidation
	type numbers struct {
		Total, Listed   int
		More            bool
		First, Schema   Number // the first cause; the validations
		Rendering       Number
		FirstValidation string
	}
	for _, c := range []struct {
		name       string
		schema     int // documents that fail the schema validation
		from, to   int // documents that fail the rendering validation
		validation string
		more       bool
		want       numbers
	}{
		{"none", 0, 0, 0, "", false, numbers{}},
		{"both, 50", 50, 0, 50, "", false, numbers{50, 50, false, Number{50, 50, false, false}, Number{50, 50, false, false}, Number{50, 50, false, false}, schema}},
		{"both, 51", 51, 0, 51, "", false, numbers{51, 50, false, Number{51, 51, false, false}, Number{51, 51, false, false}, Number{51, 51, false, false}, schema}},
		{"both, 1000", 1000, 0, 1000, "", false, numbers{1000, 50, false, Number{1000, 1000, false, false}, Number{1000, 1000, false, false}, Number{1000, 1000, false, false}, schema}},
		{"both, 1001", 1001, 0, 1001, "", false, numbers{1001, 50, true, Number{1001, 1001, false, false}, Number{1001, 1001, false, false}, Number{1001, 1000, false, true}, schema}},
		{"both, 1661", 1661, 0, 1661, "", false, numbers{1661, 50, true, Number{1661, 1661, false, false}, Number{1661, 1661, false, false}, Number{1661, 1000, false, true}, schema}},
		{"of one", 1661, 0, 1661, rendering, false, numbers{1661, 50, false, Number{1000, 1000, false, false}, Number{}, Number{1661, 1000, false, true}, rendering}},
		{"only rendering", 0, 0, 1661, "", false, numbers{1661, 50, false, Number{1000, 1000, false, false}, Number{}, Number{1661, 1000, false, true}, rendering}},
		{"different ones", 10, 10, 1671, "", false, numbers{1661, 50, true, Number{10, 10, false, false}, Number{10, 10, false, false}, Number{1661, 1000, false, true}, schema}},
		{"not all were read", 60, 0, 0, "", true, numbers{60, 50, true, Number{60, 60, true, false}, Number{60, 60, true, false}, Number{}, schema}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var all []Finding
			for i := range c.schema {
				all = append(all, Finding{Validation: schema, Document: hostNamed(i), Path: ".data.rack", Rule: "max", Message: "too large"})
			}
			if c.to > 0 {
				all = append(all, errorFindings(Finding{Validation: rendering}, listed(t, c.from, c.to))...)
			}
			list := chooseFindings(revisions.RevisionStatus{}, all, c.more, FindingsQuery{Limit: 50, Validation: c.validation})
			got := numbers{
				Total: list.Total, Listed: len(list.Findings), More: list.More,
				Schema: list.Numbers[Counted{schema, LevelError}], Rendering: list.Numbers[Counted{rendering, LevelError}],
			}
			if len(list.Causes) > 0 {
				got.First = list.Causes[0].Number
			}
			if len(list.Findings) > 0 {
				got.FirstValidation = list.Findings[0].Validation
			}
			if c.name == "different ones" {
				got.First, got.FirstValidation = list.Causes[1].Number, list.Findings[0].Validation
			}
			if diff := cmp.Diff(c.want, got); diff != "" || list.Total != list.Failures {
				t.Errorf("%d failures (-want +got)\n%s", list.Failures, diff)
			}
		})
	}
}

// Findings are grouped by validation, rule, schema and path, whatever positions in lists; the worst and largest group is
// the first, and missing results come after failures.
func TestChoose_causes(t *testing.T) {
	t.Parallel()
	of := func(i int, path, rule string) Finding {
		return Finding{Validation: "v", Document: hostNamed(i), Path: path, Rule: rule, Message: fmt.Sprintf("wrong %d", i)}
	}
	all := []Finding{
		{Validation: "w", Rule: ruleMissing, Message: "none"},
		{Level: LevelWarning, Validation: "v", Document: hostNamed(1), Rule: "odd", Message: "odd", Mistake: true},
		of(1, ".data.rack", "min"),
		of(1, ".data.nics.0.mtu", "max"),
		of(1, ".data.nics.1.mtu", "max"),
		of(2, ".data.nics.10.mtu", "max"),
		{Validation: "u", Message: "no disk"},
		{Validation: "u", Message: "no disk"},
		{Validation: "u", Message: "no light"},
	}
	list := chooseFindings(revisions.RevisionStatus{}, all, false, FindingsQuery{Limit: 10})
	var got []string
	for _, cause := range list.Causes {
		f := cause.First
		got = append(got, fmt.Sprintf("%v %s %s %s %d in %d", f.Level, f.Validation, f.Path, f.Message, cause.Findings, cause.Documents))
	}
	want := []string{
		"error v .data.nics.0.mtu wrong 1 3 in 2", "error u  no disk 2 in 0", "error v .data.rack wrong 1 1 in 1",
		"error u  no light 1 in 0", "error w  none 1 in 0", "warning v  odd 1 in 1",
	}
	if diff := cmp.Diff(want, got); diff != "" || list.Groups != 6 {
		t.Errorf("%d groups (-want +got)\n%s", list.Groups, diff)
	}
	if list.Total != 9 || list.Failures != 8 || list.Others != 4 {
		t.Errorf("%d findings, %d failures, %d about no document", list.Total, list.Failures, list.Others)
	}
	if last := list.Findings[7]; last.Rule != ruleMissing || list.Findings[8].Level != LevelWarning {
		t.Errorf("the last error is %+v", last)
	}
	var many []Finding
	for i := range maxCauses + 1 {
		many = append(many, of(1, ".data", strconv.Itoa(i)))
	}
	if list := chooseFindings(revisions.RevisionStatus{}, many, false, FindingsQuery{}); len(list.Causes) != maxCauses || list.Groups != maxCauses+1 {
		t.Errorf("%d causes of %d", len(list.Causes), list.Groups)
	}
}

// What a message of a server's own validation says is not read for the number of errors that it stands for.
func TestErrorFindings_unlisted(t *testing.T) {
	t.Parallel()
	errs := []json.RawMessage{
		json.RawMessage(`{"message": "More errors, not listed: 5"}`), json.RawMessage(`{"message": "More", "unlisted": 5}`),
	}
	for validation, want := range map[string][]int{validations.RenderingValidation: {0, 5}, "of-others": {0, 0}} {
		var got []int
		for _, f := range errorFindings(Finding{Validation: validation}, errs) {
			got = append(got, f.Unlisted)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", validation, diff)
		}
	}
}
