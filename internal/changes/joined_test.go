package changes

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
	"purser/internal/validations"
)

// The validations that look at values fail together because of a secret, and each for reasons of its own.
func TestJudgement_joined(t *testing.T) {
	t.Parallel()
	const policy, rendering, puppet = validations.PolicyValidation, validations.RenderingValidation, validations.PuppetValidation
	open, secret := fault.Message{Message: "open"}, fault.Message{Message: "secret", Secret: true}
	all := validations.DefaultValidations()
	for name, c := range map[string]struct {
		required []string
		schemas  bool // something secret fails in the schema validation
		results  []RevisionResult
		fails    bool
		want     map[string]string // the last message by validation
	}{
		"nothing": {all, false, []RevisionResult{{Name: rendering}}, false, map[string]string{rendering: ""}},
		"something open": {
			all,
			false,
			[]RevisionResult{{Name: rendering, Messages: []fault.Message{open}}, {Name: puppet}},
			false,
			map[string]string{rendering: "open", puppet: ""},
		},
		"schemas": {
			all,
			true,
			[]RevisionResult{{Name: policy}, {Name: rendering, Messages: []fault.Message{open}}, {Name: puppet}},
			true,
			map[string]string{policy: "", rendering: validations.Joined, puppet: validations.Joined},
		},
		"a rendering": {
			all,
			false,
			[]RevisionResult{{Name: rendering, Messages: []fault.Message{secret}}, {Name: puppet}},
			true,
			map[string]string{rendering: "secret", puppet: validations.Joined},
		},
		"relations, which no secret value decides": {
			all,
			false,
			[]RevisionResult{{Name: policy, Messages: []fault.Message{secret}}, {Name: rendering}},
			false,
			map[string]string{policy: "secret", rendering: ""},
		},
		"schemas that do not count": {
			[]string{rendering},
			true,
			[]RevisionResult{{Name: rendering}, {Name: puppet}},
			true,
			map[string]string{rendering: "", puppet: ""},
		},
		"schemas that count by another name": {
			[]string{validations.SchemaValidationAlias, rendering},
			true,
			[]RevisionResult{{Name: rendering}},
			true,
			map[string]string{rendering: validations.Joined},
		},
		"a rendering, and schemas that do not count": {
			[]string{rendering},
			false,
			[]RevisionResult{{Name: rendering, Messages: []fault.Message{secret}}},
			true,
			map[string]string{rendering: "secret"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := Judgement{SecretFails: c.schemas, Results: c.results}.joined(c.required)
			got := map[string]string{}
			for _, result := range made.Results {
				got[result.Name] = ""
				if n := len(result.Messages); n > 0 {
					got[result.Name] = result.Messages[n-1].Message
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || made.Failed() != c.fails {
				t.Errorf("schemas fail: %v, want %v; messages (-want +got)\n%s", made.Failed(), c.fails, diff)
			}
		})
	}
}

// The fault of an exhausted budget names no document to callers who may not see encrypted ones, if there are any: how
// far the budget went may depend on one.
func TestExhausted(t *testing.T) {
	t.Parallel()
	open := revisionstest.Parsed(t, revisionstest.Widget("w", "{}", revisionstest.Cleartext))
	sealed := revisionstest.Parsed(t, revisionstest.Widget("w", "{}", "storagePolicy: encrypted, layeringDefinition: {layer: site}"))
	tooLarge := fault.New(fault.TooLarge, "HTTPPayloadTooLarge", "render document w: too much work")
	for name, c := range map[string]struct {
		err       error
		documents []*revisions.Stored
		named     bool
	}{
		"no secrets":    {tooLarge, open, true},
		"secrets":       {tooLarge, sealed, false},
		"another fault": {fault.New(fault.Invalid, "T", "document w fails"), sealed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := exhausted(c.err, c.documents)
			f, ok := errors.AsType[*fault.Fault](err)
			if !ok || f.Kind != fault.KindOf(c.err) {
				t.Fatalf("%v", err)
			}
			shown := authz.Viewer{}.Fault(f)
			owner := authz.Viewer{Encrypted: true}.Fault(f)
			if named := shown.Message == c.err.Error(); named != c.named || owner.Message != c.err.Error() {
				t.Errorf("shown: %s; to the owner: %s", shown.Message, owner.Message)
			}
		})
	}
}

// Of a revision that renders to too much because of a secret, others are told only that something secret fails.
func TestRenderer_ValidateRevision_tooLarge(t *testing.T) {
	t.Parallel()
	const key = "{src: {schema: acme/Widget/v1, name: key, path: .x}, dest: [%s]}"
	var places []string
	for i := range 70 {
		places = append(places, fmt.Sprintf("{path: .x%d}", i))
	}
	const site = "layeringDefinition: {layer: site}, "
	taking := site + "storagePolicy: cleartext, substitutions: [" + fmt.Sprintf(key, strings.Join(places, ", ")) + "]"
	large := `{x: "` + strings.Repeat("a", 1<<20) + `"}`
	documents := revisionstest.Parsed(t, revisionstest.Widget("key", large, site+"storagePolicy: encrypted")+
		revisionstest.Widget("w", "{}", taking)+
		"---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: lp}\n"+
		"data: {layerOrder: [site]}\n---\nschema: fuel/PuppetOverride/v1\nmetadata: {schema: metadata/Document/v1, name: o, "+site+
		"substitutions: [{src: {schema: acme/Widget/v1, name: w, path: .}, dest: {path: .x}}]}\ndata: {}\n")
	r := Renderer{Engine: validations.NewEngine(validations.Options{})}
	for _, name := range []string{validations.RenderingValidation, validations.PuppetValidation} {
		result, _, err := r.ValidateRevision(t.Context(), name, 1, documents, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := authz.Viewer{}.Messages([]fault.Message{{Secret: true}})
		if diff := cmp.Diff(want, authz.Viewer{}.Messages(result.Messages)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}
