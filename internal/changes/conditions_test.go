package changes

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// conditional returns a policy with a requirement for each condition.
func conditional(conditions ...validations.Selection) []validations.Policy {
	var policy validations.Policy
	for i := range conditions {
		policy.Requirements = append(policy.Requirements, validations.Requirement{Name: strconv.Itoa(i), When: &conditions[i]})
	}
	return []validations.Policy{policy}
}

func placedOf(schema, bucket, metadata string) *revisions.Stored {
	return &revisions.Stored{Bucket: bucket, Document: &document.Document{
		Identity: document.Identity{Schema: schema, Layer: "site", Name: "n"}, Metadata: []byte(metadata),
	}}
}

func TestInapplicable(t *testing.T) {
	t.Parallel()
	documents := []*revisions.Stored{
		placedOf("a/A/v1", "x", `{"layeringDefinition":{"abstract":true}}`), placedOf("a/A/v1", "y", `{"labels":{"is":"y"}}`),
		placedOf("a/B/v1", "y", `{}`), placedOf("a/B/v1", "y", `{"labels":{"is":"b"}}`),
	}
	labels := func(is string) map[string]string { return map[string]string{"is": is} }
	conditions := []validations.Selection{
		{Schemas: []string{"a/A/*"}},
		{Schemas: []string{"a/C/*"}},
		{Buckets: []string{"x"}},
		{Buckets: []string{"y"}},
		{Schemas: []string{"a/B/v1"}, Labels: labels("b")},
		{Schemas: []string{"a/B/v1"}, Labels: labels("y")},
		{Labels: labels("y")},
	}
	got, err := inapplicable(t.Context(), conditional(conditions...), documents)
	if want := []int{1, 2, 5}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// Conditions whose decision takes too much work apply.
func TestInapplicable_bounded(t *testing.T) {
	t.Parallel()
	var documents []*revisions.Stored
	for i := range 2000 {
		documents = append(documents, placedOf(fmt.Sprintf("a/A/v%d", i), "x", "{}"))
	}
	condition := validations.Selection{}
	for i := range 100 {
		condition.Schemas = append(condition.Schemas, fmt.Sprintf("a/B%d/*", i))
	}
	const each = 2000 * (60 + 15*100) // steps
	fits := int(conditionSteps / each)
	got, err := inapplicable(t.Context(), conditional(slices.Repeat([]validations.Selection{condition}, fits+10)...), documents)
	if err != nil || len(got) != fits || got[fits-1] != fits-1 {
		t.Errorf("%d do not apply, want the first %d; %v", len(got), fits, err)
	}
	if fits < 500 || conditionSteps > 5*budget.Second {
		t.Errorf("%d conditions can be decided", fits)
	}
}
