package check_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/check"
	"purser/internal/document"
)

// siteFile has documents that inherit from one another and take values out of others.
const siteFile = `schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: lp}
data: {layerOrder: [global, site]}
---
schema: deckhand/DataSchema/v1
metadata: {schema: metadata/Control/v1, name: acme/Open/v1}
data: {properties: {a: {description: of a}}}
---
schema: deckhand/DataSchema/v1
metadata: {schema: metadata/Document/v1, name: acme/Closed/v1, storagePolicy: encrypted, layeringDefinition: {layer: site}}
data: {properties: {a: {description: Hidden}}}
---
schema: acme/Open/v1
metadata:
  {schema: metadata/Document/v1, name: base, storagePolicy: cleartext, labels: {is: base}, layeringDefinition: {layer: global}}
data: {a: 1, list: [x, {y: 2}]}
---
schema: acme/Closed/v1
metadata: {schema: metadata/Document/v1, name: secret, storagePolicy: encrypted, layeringDefinition: {layer: global}}
data: {key: Hidden}
---
schema: acme/Open/v1
metadata:
  schema: metadata/Document/v1
  name: child
  storagePolicy: cleartext
  layeringDefinition: {layer: site, parentSelector: {is: base}, actions: [{method: merge, path: .}]}
  substitutions:
  - {src: {schema: acme/Closed/v1, name: secret, path: .key}, dest: {path: .password}}
  - {src: {schema: acme/Open/v1, name: base, path: .a}, dest: {path: .url, pattern: N}}
data:
  own: 3
  url: http://N
  password: none
`

func site(t *testing.T, files ...check.File) *check.Site {
	t.Helper()
	_, site, err := check.New(check.Options{}).Inspect(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	return site
}

var child = document.Identity{Schema: "acme/Open/v1", Layer: "site", Name: "child"}

// The origin of a value is where it was written, with the way from there. That of a secret does not show it.
func TestSite_Origin(t *testing.T) {
	t.Parallel()
	s := site(t, file("a.yaml", siteFile))
	for path, want := range map[string]string{
		"a":        "1 [base] at 16 by inherited by [acme/Open/v1, site] child",
		"list 1 y": "2 [base] at 16 by inherited by [acme/Open/v1, site] child",
		"own":      "3 [child] at 32 by action 1 of [acme/Open/v1, site] child: merge at ., own",
		"url": `"http://1" [child] at 33 by action 1 of [acme/Open/v1, site] child: merge at .; substituted for .url of ` +
			`[acme/Open/v1, site] child, from .a of [acme/Open/v1, global] base`,
		"password": " [secret] at 18 by substituted for .password of [acme/Open/v1, site] child, from .key of " +
			"[acme/Closed/v1, global] secret, secret",
		"":     " [base child secret] at 0 by ",
		"none": "none",
	} {
		got := "none"
		if o, ok := s.Origin(t.Context(), child, strings.Fields(path)); ok {
			var names, steps []string
			for _, id := range o.Documents {
				names = append(names, id.Name)
			}
			for _, step := range o.Steps {
				steps = append(steps, step.Message)
			}
			got = fmt.Sprintf("%s %v at %d by %s", o.Value, names, o.Place.Line, strings.Join(steps, "; "))
			got += map[bool]string{true: ", secret"}[o.IsSecret] + map[bool]string{true: ", own"}[o.IsOwn]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", path, diff)
		}
	}
	for _, id := range []document.Identity{{Schema: "acme/Closed/v1", Layer: "global", Name: "secret"}, {Name: "none"}} {
		if o, ok := s.Origin(t.Context(), id, []string{"key"}); ok {
			t.Errorf("%v: %+v", id, o)
		}
	}
}

// A site knows what its documents depend on, where they are, and by which schemas they are checked.
func TestSite(t *testing.T) {
	t.Parallel()
	s := site(t, file("a.yaml", siteFile))
	on, err := s.Dependencies(t.Context(), child)
	if err != nil {
		t.Fatal(err)
	}
	base := document.Identity{Schema: "acme/Open/v1", Layer: "global", Name: "base"}
	secret := document.Identity{Schema: "acme/Closed/v1", Layer: "global", Name: "secret"}
	want := []check.Dependency{{Identity: base, IsParent: true}, {Identity: secret}, {Identity: base}}
	if diff := cmp.Diff(want, on); diff != "" {
		t.Error(diff)
	}
	for id, want := range map[document.Identity]int{base: 16, secret: 18, {}: 0} { // not the line of the secret
		if at, ok := s.Place(t.Context(), id, []string{"data", "a"}); at.Line != want || ok != (want > 0) {
			t.Errorf("%v: %v %v", id, at, ok)
		}
	}
	for kind, want := range map[string]bool{
		"acme/Open/v1": true, "acme/Closed/v1": false, "deckhand/LayeringPolicy/v1": true, "fuel/PuppetType/v1": true, "x": false,
	} {
		if got := s.Schema(kind) != nil; got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
	if diff := cmp.Diff([]string{"global", "site"}, s.Layers()); diff != "" {
		t.Error(diff)
	}
	if id, ok := s.DataSchema("acme/Open/v1"); !ok || id.Name != "acme/Open/v1" || len(s.Documents()) != 6 {
		t.Error(id, ok, s.Documents())
	}
}

// What schemas say is asked by the place in a document: of its data, or of its metadata.
func TestSite_About(t *testing.T) {
	t.Parallel()
	s, doc := site(t, file("a.yaml", siteFile)), file("b.yaml", strings.SplitAfter(siteFile, "---\n")[5])
	for _, c := range []struct {
		at   document.Position
		want string
	}{
		{document.Position{Line: 6, Column: 24}, "metadata/Document/v1 layeringDefinition layer"},
		{document.Position{Line: 11, Column: 4}, "acme/Open/v1 own"},
		{document.Position{Line: 1, Column: 1}, "nothing"},
	} {
		spot, ok, err := check.At(t.Context(), doc, c.at)
		if !ok || err != nil || spot.Identity() != child {
			t.Fatal(spot, ok, err)
		}
		_, name, err := s.About(t.Context(), spot, spot.Path)
		got := strings.Join(append([]string{name}, spot.Path[1:]...), " ")
		if name == "" {
			got = "nothing"
		}
		if err != nil || got != c.want {
			t.Errorf("%v: %q %v", c.at, got, err)
		}
	}
	for _, text := range []string{"", "a: [", "\xff", "- a\n- b\n"} {
		if spot, ok, err := check.At(t.Context(), file("b.yaml", text), document.Position{Line: 1, Column: 1}); ok || err != nil {
			t.Errorf("%q: %v %v", text, spot, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := check.At(ctx, doc, document.Position{Line: 1, Column: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Dependencies(ctx, child); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
