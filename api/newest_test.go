package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"purser/api"
	"purser/internal/wire"
)

// The list of validations has the newest posted result of each: its time, its expiry, and its validator if that has a
// name and is short.
func TestValidations_newest(t *testing.T) {
	t.Parallel()
	const gate = "---\nschema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: gate}\n" +
		"data: {validations: [{name: a-validation, expiresAfter: PT1H}, {name: missing-validation}, {name: deckhand-rendering-validation}]}\n"
	for _, compat := range []bool{false, true} {
		s := newSite(t, func(config *api.Config) { config.Compat = compat })
		s.put(t, "control", rackSchema+gate).is(t, http.StatusOK)
		for _, result := range []string{
			"a-validation: {status: failure, validator: {name: a, version: '1.0'}}",
			"a-validation: {status: success, validator: {name: a, version: '2.0'}}",
			"b-validation: {status: failure, validator: {name: b, version: 3}}",
			"c-validation: {status: success, validator: text}",
			"d-validation: {status: success, validator: {name: " + strings.Repeat("d", 1001) + "}}",
		} {
			name, body, _ := strings.Cut(result, ": ")
			s.do(t, http.MethodPost, "revisions/1/validations/"+name, body, "Content-Type", "application/x-yaml").is(t, http.StatusCreated)
		}
		var found wire.List[wire.Validation]
		if err := json.Unmarshal([]byte(s.get(t, "revisions/1/validations?newest=true", "Accept", "application/json").is(t, http.StatusOK).text), &found); err != nil {
			t.Fatal(err)
		}
		got := map[string]*wire.Newest{}
		for _, validation := range found.Results {
			got[validation.Name] = validation.Newest
			if newest := validation.Newest; newest != nil {
				if at, ok := newest.CreatedAt.Time(); ok {
					expires, _ := newest.ExpiresAt.Time()
					newest.CreatedAt = ""
					if newest.ExpiresAt != "" {
						newest.ExpiresAt = wire.Optional(expires.Sub(at).String())
					}
				}
			}
		}
		want := map[string]*wire.Newest{
			"deckhand-schema-validation": nil, "deckhand-rendering-validation": nil, "missing-validation": nil,
			"a-validation": {Status: "success", ExpiresAt: "1h0m0s", Validator: &wire.Validator{Name: "a", Version: "2.0"}},
			"b-validation": {Status: "failure", Validator: &wire.Validator{Name: "b", Version: "3"}},
			"c-validation": {Status: "success"}, "d-validation": {Status: "success"},
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("compat %v: newest results (-want +got)\n%s", compat, diff)
		}
	}
}
