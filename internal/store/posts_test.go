package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// A revision takes results of MaxValidations validations, or until a name does not fit into MaxValidationBytes. Further
// results of these, and results about other revisions, are taken.
func TestStore_AddResult_bounds(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	site, conn := open(t, url), storetest.Connect(t, url)
	s := openStore(t, url, store.Options{Deadlines: store.DefaultDeadlines()})
	for i := range 2 {
		put(t, site, fmt.Sprint("b", i), control("deckhand/ValidationPolicy/v1", fmt.Sprint("p", i), "{validations: []}"))
	}
	storetest.Execute(t, conn, fmt.Sprintf(`INSERT INTO reported (site, revision, name) SELECT 'default', 1, 'n' || i
		FROM generate_series(1, %d) i`, revisions.MaxValidations-1))
	const long = 256
	storetest.Execute(t, conn, fmt.Sprintf(`INSERT INTO reported (site, revision, name)
		SELECT 'default', 2, rpad(i::text, %d, 'x') FROM generate_series(1, %d) i`, long,
		revisions.MaxValidationBytes/long-1))
	for i, c := range []struct {
		revision int64
		name     string
		added    bool
	}{
		{1, "last", true},
		{1, "more", false},
		{1, "last", true},
		{1, "n1", true},
		{2, strings.Repeat("y", long+1), false},
		{2, strings.Repeat("y", long), true},
		{2, "z", false},
	} {
		result := validations.Result{Name: c.name, Status: "success", Validator: []byte("{}"), Errors: []byte("[]")}
		stamp, _, err := s.AddResult(t.Context(), revisions.About{Revision: c.revision}, result)
		full, isFault := errors.AsType[*fault.Fault](err)
		refused := isFault && full.Kind == fault.Conflict && full.Type == "TooManyValidations"
		if c.added && (err != nil || stamp == 0) || !c.added && !refused {
			t.Errorf("%d: %s about revision %d: stamp %v, %v", i, c.name, c.revision, stamp, err)
		}
	}
}
