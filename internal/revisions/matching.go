package revisions

import (
	"cmp"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/validations"
)

// of selects among documents in memory, as the store does among those in the database. Without a sort key they keep
// their order.
func (s Selection) of(documents []*Stored) Selected {
	matching := make([]*Stored, 0, len(documents))
	for _, doc := range documents {
		if s.matches(doc) {
			matching = append(matching, doc)
		}
	}
	slices.SortStableFunc(matching, s.compare)
	matching = matching[min(s.Offset, len(matching)):]
	if s.Limit < 0 || s.Limit >= len(matching) {
		return Selected{Documents: matching}
	}
	return Selected{Documents: matching[:s.Limit], More: true}
}

func (s Selection) matches(doc *Stored) bool {
	switch {
	case s.Names != nil && !slices.Contains(s.Names, doc.Name),
		s.Layers != nil && !slices.Contains(s.Layers, doc.Layer),
		s.Buckets != nil && !slices.Contains(s.Buckets, doc.Bucket),
		s.Abstract != nil && !slices.Contains(s.Abstract, doc.Traits().Abstract),
		s.Schemas != nil && !slices.ContainsFunc(s.Schemas, func(schema string) bool { return isOf(doc.Schema, schema) }),
		s.NoPolicy && strings.HasPrefix(doc.Schema, validations.PolicyPrefix):
		return false
	}
	return s.Labels == nil || len(s.Labels) > 0 && hasLabels(doc.Traits().Labels, s.Labels)
}

// isOf tells whether a schema is the wanted one, or begins with it up to a slash.
func isOf(schema, wanted string) bool {
	const slashesOfSchema = 2
	return schema == wanted ||
		wanted != "" && strings.Count(wanted, "/") < slashesOfSchema && strings.HasPrefix(schema, wanted+"/")
}

func hasLabels(labels document.Mapping, wanted []Label) bool {
	for _, label := range wanted {
		if labels.At(label.Key) != label.Value {
			return false
		}
	}
	return true
}

// compare orders documents by the sort keys.
func (s Selection) compare(a, b *Stored) int {
	order := 0
	for _, key := range s.Sort {
		if order = compareBy(key, a, b); order != 0 {
			break
		}
	}
	if s.Backwards {
		return -order
	}
	return order
}

func compareBy(key SortKey, a, b *Stored) int {
	switch key {
	case ByNumber:
		return cmp.Compare(a.ID, b.ID)
	case ByTime, ByRevision:
		return cmp.Compare(a.Revision, b.Revision)
	case BySchema:
		return cmp.Compare(a.Schema, b.Schema)
	case ByName:
		return cmp.Compare(a.Name, b.Name)
	case ByLayer:
		return cmp.Compare(a.Layer, b.Layer)
	case ByAbstract:
		return cmp.Compare(number(a.Traits().Abstract), number(b.Traits().Abstract))
	case ByBucket:
		return cmp.Compare(a.Bucket, b.Bucket)
	}
	return 0
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
