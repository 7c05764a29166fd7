package changes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/revisions/revisionstest"
	"purser/internal/validations"
)

const layerPolicy = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: lp, " +
	"storagePolicy: cleartext}\ndata: {layerOrder: [site]}\n"

// takingFrom returns a widget that takes a value from each source.
func takingFrom(name, policy string, sources ...string) string {
	var substitutions []string
	for _, source := range sources {
		substitutions = append(substitutions, fmt.Sprintf("{src: {schema: acme/Widget/v1, name: %s, path: .x}, dest: {path: .%s}}", source, source))
	}
	return revisionstest.Widget(name, "{x: 1}", fmt.Sprintf("storagePolicy: %s, layeringDefinition: {layer: site}, "+
		"substitutions: [%s]", policy, strings.Join(substitutions, ", ")))
}

func rendered(t *testing.T, r Renderer, documents string) (Rendering, RevisionResult) {
	t.Helper()
	r.Engine = validations.NewEngine(validations.Options{})
	out, err := r.Render(t.Context(), 1, revisionstest.Parsed(t, documents), nil)
	if err != nil {
		t.Fatal(err)
	}
	result, _, err := r.ValidateRevision(t.Context(), validations.RenderingValidation, 1, revisionstest.Parsed(t, documents), nil)
	if err != nil {
		t.Fatal(err)
	}
	return out, result
}

// said returns the texts of messages; those about secrets are marked.
func said(messages []fault.Message) (texts []string) {
	for _, m := range messages {
		text := m.Message
		if m.Secret {
			text = "secret: " + text
		}
		texts = append(texts, text)
	}
	return texts
}

// Documents that are not judged because of another's error are named, encrypted ones and those that the error reaches
// through an encrypted one only to viewers of secrets.
func TestRenderer_Render_consequences(t *testing.T) {
	t.Parallel()
	documents := layerPolicy + takingFrom("bad", "cleartext", "gone") + takingFrom("open", "cleartext", "bad") +
		takingFrom("hidden", "encrypted", "bad") + takingFrom("through", "cleartext", "hidden") + takingFrom("fine", "cleartext")
	out, result := rendered(t, Renderer{}, documents)
	if out.Unrendered == nil || strings.Join(revisionstest.Names(out.Documents), " ") != "a/lp#1@1 a/fine#6@6" {
		t.Errorf("rendered %v", revisionstest.Names(out.Documents))
	}
	want := []string{
		"secret: Not checked, because document [acme/Widget/v1, site] bad fails (SubstitutionSourceNotFound): 2 documents: " +
			"[acme/Widget/v1, site] hidden, [acme/Widget/v1, site] through",
		"Not checked, because document [acme/Widget/v1, site] bad fails (SubstitutionSourceNotFound): document [acme/Widget/v1, site] open",
	}
	got := said(result.Warnings)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
	if seen := (authz.Viewer{}).Warnings(result.Warnings); len(seen) != 1 || strings.Contains(fmt.Sprint(seen), "hidden") {
		t.Errorf("others see %v", seen)
	}
	if stored := string(result.Stored().Errors); strings.Contains(stored, "hidden") || strings.Contains(stored, "through") {
		t.Errorf("stored: %s", stored)
	}
	if compat, _ := rendered(t, Renderer{Compat: true}, documents); compat.Warnings != nil || compat.Fault == nil {
		t.Errorf("with --compat=deckhand: %v, %v", compat.Warnings, compat.Fault)
	}
}

// A fault lists first the errors of documents that do not render, and then those of rendered ones; the reference's ends
// with the first.
func TestRenderer_Render_faults(t *testing.T) {
	t.Parallel()
	schema := "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: acme/Widget/v1, " +
		"storagePolicy: cleartext}\ndata: {properties: {x: {type: string}}}\n"
	documents := layerPolicy + schema + takingFrom("a", "cleartext", "gone") + takingFrom("b", "cleartext", "none") + takingFrom("c", "cleartext")
	const missing = "Required substitution source document [acme/Widget/v1] %s was not found, yet is referenced by [acme/Widget/v1] %s"
	for _, c := range []struct {
		compat bool
		want   []string
	}{
		{false, []string{fmt.Sprintf(missing, "gone", "a"), fmt.Sprintf(missing, "none", "b"), "1 is not of type 'string'"}},
		{true, []string{fmt.Sprintf(missing, "gone", "a")}},
	} {
		out, result := rendered(t, Renderer{Compat: c.compat}, documents)
		f, isFault := errors.AsType[*fault.Fault](out.Fault)
		if !isFault || f.Kind != fault.Conflict || f.Message != c.want[0] {
			t.Fatalf("compat %v: %v", c.compat, out.Fault)
		}
		if diff := cmp.Diff(c.want, said(result.Messages)); diff != "" {
			t.Errorf("compat %v (-want +got)\n%s", c.compat, diff)
		}
	}
}

// The names in a warning are bounded, as are the warnings: secret ones by themselves.
func TestConsequences_bounded(t *testing.T) {
	t.Parallel()
	cause := fault.New(fault.Invalid, "Bad", "bad")
	cause.Messages = []fault.Message{{}}
	var all []unjudged
	for i := range maxNamed + 90 {
		all = append(all, unjudged{Stored: revisionstest.Version("b", fmt.Sprint("w", i), 1, 1), cause: cause})
	}
	warnings := first(consequences(all))
	if len(warnings) != 1 || !strings.Contains(warnings[0].Message, "100 documents: ") || !strings.HasSuffix(warnings[0].Message, " and 90 more") {
		t.Errorf("%v", said(warnings))
	}
	var many []fault.Message
	for i := range 2*maxWarnings + 5 {
		many = append(many, fault.Message{Message: "w", Secret: i < maxWarnings+2})
	}
	kept := first(worded(many))
	want := []string{"More warnings, not shown: 3", "secret: More warnings, not shown: 2"}
	if diff := cmp.Diff(want, said(kept[2*maxWarnings:])); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A selector that selects nothing fails PolicyValidation; in compat mode it is a warning.
func TestRenderer_ValidateRevision_orphan(t *testing.T) {
	t.Parallel()
	documents := layerPolicy + revisionstest.Widget("w", "{}", "storagePolicy: cleartext, layeringDefinition: {layer: site, "+
		"parentSelector: {k: none}, actions: [{method: merge, path: .}]}")
	const orphan = "The parentSelector of document [acme/Widget/v1, site] w selects no document, so it inherits nothing"
	for _, c := range []struct {
		compat         bool
		errs, warnings []string
	}{{false, []string{orphan}, nil}, {true, nil, []string{orphan}}} {
		r := Renderer{Compat: c.compat}
		result, _, err := r.ValidateRevision(t.Context(), validations.PolicyValidation, 1, revisionstest.Parsed(t, documents), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]string{c.errs, c.warnings}, [][]string{said(result.Messages), said(result.Warnings)}); diff != "" {
			t.Errorf("compat %v (-want +got)\n%s", c.compat, diff)
		}
	}
}
