package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	result := func(name, status, errors string) validations.Result {
		return validations.Result{Name: name, Status: status, Errors: []byte(errors)}
	}
	const success, failure = "success", "failure"
	for _, c := range []struct {
		result    validations.Result
		succeeded int16
	}{
		{result(validations.PolicyValidation, success, "[]"), 1},
		{result(validations.RenderingValidation, success, "[]"), 2},
		{result(validations.CoverageValidation, success, "[]"), 4},
		{result(validations.PuppetValidation, success, "[]"), 8},
		{result(validations.PackageValidation, success, "[]"), 16},
		{result(validations.RenderingValidation, success, `[{"message":"a warning"}]`), 0},
		{result(validations.PolicyValidation, failure, "[]"), 0},
		{result("x-validation", success, "[]"), 0},
	} {
		first := result("first-validation", failure, "[]")
		succeeded, others := store.SplitSuccesses([]validations.Result{first, c.result})
		want := []validations.Result{first}
		if c.succeeded == 0 {
			want = append(want, c.result)
		}
		if diff := cmp.Diff(want, others); diff != "" || succeeded != c.succeeded {
			t.Errorf("%+v: succeeded %b, want %b; others (-want +got):\n%s", c.result, succeeded, c.succeeded, diff)
		}
	}
}

// Successes that are bits give the same answers as those that are results, as they were in earlier versions.
func TestStore_successes(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := openStore(t, url, defaults()), storetest.Connect(t, url)
	site := open(t, url)
	put(t, site, "p", control("deckhand/ValidationPolicy/v1", "p", `{validations: [
		{name: deckhand-policy-validation}, {name: deckhand-rendering-validation}, {name: purser-coverage-validation},
		{name: puppet-override-validation}, {name: murano-package-validation}]}`)+
		control("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: [site]}"))
	revision := put(t, site, "a", widget("w", 1)).Revision // without a DataSchema
	posted := validations.Result{Name: "a-validation", Status: "success", Validator: []byte("{}"), Errors: []byte("[]")}
	if _, _, err := s.AddResult(t.Context(), revisions.About{Revision: revision}, posted); err != nil {
		t.Fatal(err)
	}
	type answers struct {
		Outcomes []validations.Outcome
		Reported []queries.Reported
		Errors   []string
		Worst    map[string]string
	}
	ask := func(name string) (all answers) {
		t.Helper()
		fresh := openStore(t, url, defaults())
		found, err := fresh.Evidence(t.Context(), []int64{revision})
		if err != nil {
			t.Fatal(err)
		}
		all.Outcomes = found.Known[revision].Outcomes
		of := found.Revisions[0]
		if all.Reported, err = fresh.Reported(t.Context(), of, name); err != nil {
			t.Fatal(err)
		}
		var ids []int64
		for _, r := range all.Reported {
			ids = append(ids, r.ID)
		}
		errs, err := fresh.ResultTexts(t.Context(), of, ids)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			all.Errors = append(all.Errors, string(errs[id].Errors))
		}
		if all.Worst, err = fresh.WorstResults(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		return all
	}
	names := []string{"", validations.RenderingValidation, validations.CoverageValidation, "a-validation", "none"}
	var bits []answers
	for _, name := range names {
		bits = append(bits, ask(name))
	}
	var rows int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM results WHERE revision = $1", revision).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if all := bits[0].Reported; rows != 2 || len(all) != 6 || all[5].Name != "a-validation" {
		t.Fatalf("%d rows for %+v, want only one for the failure and one for the posted result, which is last", rows, all)
	}
	for _, sql := range []string{
		`INSERT INTO results (site, revision, name, status, validator, errors, created_at, message)
			SELECT r.site, r.revision, n.name, 'success', '{}', '[]', r.created_at, '' FROM revisions r
			JOIN (VALUES (1, 'deckhand-policy-validation'), (2, 'deckhand-rendering-validation'),
				(8, 'puppet-override-validation'), (16, 'murano-package-validation')) n (bit, name) ON succeeded & bit <> 0`,
		"INSERT INTO reported (site, revision, name) SELECT site, revision, name FROM results ON CONFLICT DO NOTHING",
		"UPDATE revisions SET succeeded = 0",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range names {
		diff := cmp.Diff(ask(name), bits[i], cmpopts.IgnoreFields(queries.Reported{}, "ID"),
			cmpopts.SortSlices(func(a, b validations.Outcome) bool { return a.Name < b.Name }))
		if diff != "" {
			t.Errorf("name %q (-rows +bits):\n%s", name, diff)
		}
	}
}
