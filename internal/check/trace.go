package check

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// maxTraced is the maximum number of documents to explain. Explaining one may take as long as rendering them all.
const maxTraced = 50

// tracer finds the places where values of rendered documents were written.
type tracer struct {
	*run

	documents []*revisions.Stored
	explained map[int]*rendering.Explanation // by item; nil if explaining failed
}

// trace returns the item and position where the value of a finding was written, and the steps from there. The item is
// negative if they are unknown: the value is missing, or several documents contributed parts of it.
func (x *tracer) trace(ctx context.Context, item int, f *queries.Finding) (
	from int, at document.Position, chain []Step,
) {
	if !strings.HasPrefix(f.Path, ".data") || x.isEncrypted(item) || x.documents[item].Traits().Final() {
		return -1, at, nil
	}
	leaf := x.leaf(ctx, item, f)
	if leaf == nil || leaf.Path == "" { // created by the first step
		return -1, at, nil
	}
	from = leaf.Document
	at = x.position(from, append([]string{"data"}, written(*leaf, f)...))
	for _, step := range leaf.Steps {
		chain = append(chain, x.step(step))
	}
	if len(chain) > 0 {
		own := x.place(x.of[item], x.position(item, nil))
		chain = append(chain, Step{own, fmt.Sprintf("rendered as %s of %s", f.Path, x.documents[item].Identity)})
	}
	return from, at, chain
}

// open returns findings. A withheld finding keeps its place only if that reveals nothing about a secret. The others are
// reduced to one per document, without a place in it.
func (x *tracer) open(ctx context.Context, found []queries.Finding, items map[document.Identity]int) (
	shown []queries.Finding,
) {
	closed := map[document.Identity]bool{}
	for _, f := range found {
		if authz.IsWithheld(f.Message) {
			item, known := items[f.Document]
			switch {
			case known && x.isOpen(ctx, item, &f):
				f.Message = validations.Unquoted(f.Rule)
			case known && closed[f.Document]:
				continue
			default:
				closed[f.Document] = true
				f.Path, f.Rule, f.Causes = "", ".", nil
			}
		}
		shown = append(shown, f)
	}
	return shown
}

// isOpen reports whether the place of a withheld finding reveals nothing about a secret, because neither the value
// there nor the schema depends on one.
func (x *tracer) isOpen(ctx context.Context, item int, f *queries.Finding) bool {
	if !strings.HasPrefix(f.Path, ".data") || x.isEncrypted(item) || x.documents[item].Traits().Final() {
		return false
	}
	for i, doc := range x.documents {
		ofSchema := doc.Schema == validations.DataSchemaKind && doc.Name == f.Document.Schema
		if (ofSchema || doc.Schema == validations.ClientVersionsKind) && (x.isEncrypted(i) || !doc.Traits().Final()) {
			return false
		}
	}
	explanation := x.explain(ctx, item)
	if explanation == nil {
		return false
	}
	asked := strings.Join(f.Place()[1:], ".")
	return !slices.ContainsFunc(explanation.Leaves, func(leaf rendering.Leaf) bool {
		path := strings.Join(plain(leaf.Parts), ".")
		return leaf.Secret && (isWithin(path, asked) || isWithin(asked, path))
	})
}

// isWithin reports whether a path is equal to or below another.
func isWithin(path, other string) bool {
	return other == "" || path == other || strings.HasPrefix(path, other+".")
}

// leaf returns the first leaf at or below the value of a finding, if all of these leaves come from one document, else
// nil.
func (x *tracer) leaf(ctx context.Context, item int, f *queries.Finding) *rendering.Leaf {
	leaves := x.leaves(ctx, item, f.Place()[1:])
	for i := range leaves {
		if leaves[i].Document != leaves[0].Document {
			return nil
		}
	}
	if len(leaves) == 0 {
		return nil
	}
	return &leaves[0]
}

// leaves returns the leaves at or below a path in the rendered data of a document.
func (x *tracer) leaves(ctx context.Context, item int, path []string) (found []rendering.Leaf) {
	explanation := x.explain(ctx, item)
	if explanation == nil {
		return nil
	}
	asked := strings.Join(path, ".")
	for _, leaf := range explanation.Leaves {
		if isWithin(strings.Join(plain(leaf.Parts), "."), asked) {
			found = append(found, leaf)
		}
	}
	return found
}

// explain explains a document. It returns nil if that fails or if maxTraced documents have been explained.
func (x *tracer) explain(ctx context.Context, item int) *rendering.Explanation {
	if explanation, known := x.explained[item]; known || len(x.explained) >= maxTraced {
		return explanation
	}
	if x.explained == nil {
		x.explained = map[int]*rendering.Explanation{}
	}
	explanation, err := x.service.Renderer().Explain(ctx, x.documents, x.documents[item].Identity, ".")
	if err != nil {
		explanation = nil
	}
	x.explained[item] = explanation
	return explanation
}

// plain returns the parts of a path without punctuation.
func plain(parts []string) []string {
	names := make([]string, len(parts))
	for i, part := range parts {
		names[i] = strings.Trim(part, ".[]'")
	}
	return names
}

// written returns the path of the value of a finding in the document that wrote a leaf. The value is the leaf or
// contains it.
func written(leaf rendering.Leaf, f *queries.Finding) []string {
	origin, rendered := document.SplitPath(leaf.Path), plain(leaf.Parts)
	inside := len(rendered) - (len(f.Place()) - 1)
	if inside <= 0 || inside > len(origin) {
		return origin
	}
	for i := range inside { // the value was copied with its members
		if strings.Trim(origin[len(origin)-1-i], "'") != rendered[len(rendered)-1-i] {
			return origin
		}
	}
	return origin[:len(origin)-inside]
}

// step describes a step of rendering and the place that caused it.
func (x *tracer) step(s rendering.Step) Step {
	doc := x.documents[s.Document].Identity
	var path []string
	var text string
	switch s.Kind {
	case rendering.Inherited:
		path = []string{"metadata", "layeringDefinition", "parentSelector"}
		text = fmt.Sprintf("inherited by %s", doc)
	case rendering.Substituted, rendering.Inserted:
		path = []string{"metadata", "substitutions", strconv.Itoa(s.Number)}
		text = fmt.Sprintf("substituted for %s of %s, from %s of %s", s.To, doc, s.From, x.documents[s.Source].Identity)
	case rendering.Merged, rendering.Replaced, rendering.Deleted:
		path = []string{"metadata", "layeringDefinition", "actions", strconv.Itoa(s.Number)}
		text = fmt.Sprintf("action %d of %s: %s at %s", s.Number+1, doc, s.Kind, s.To)
	}
	return Step{x.place(x.of[s.Document], x.position(s.Document, path)), text}
}
