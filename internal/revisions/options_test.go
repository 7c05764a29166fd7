package revisions

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/fault"
)

func TestExpected_Check(t *testing.T) {
	t.Parallel()
	const end = "; nothing was changed. Look at the newer revisions, then send the request again for the newest one"
	head := Head{Stamp: 3, Revision: 5}
	for _, c := range []struct {
		name     string
		expected Expected
		head     Head
		want     string // of the fault's message; "" for none
	}{
		{"anything", nil, head, ""},
		{"the newest", Expected{{5, 3}}, head, ""},
		{"the newest of any stamp", Expected{{5, 0}}, head, ""},
		{"one of several", Expected{{2, 3}, {5, 3}}, head, ""},
		{"any", Expected{{-1, 0}}, head, ""},
		{"none yet", Expected{{0, 0}}, Head{}, ""},
		{"an older one", Expected{{4, 3}}, head, "If-Match asks for revision 4, but the newest is 5" + end},
		{"older ones", Expected{{4, 3}, {3, 3}}, head, "If-Match asks for revision 4 or 3, but the newest is 5" + end},
		{
			"with another stamp",
			Expected{{5, 2}},
			head,
			"If-Match asks for revision 5, but the newest is 5, and it is another one: all revisions were deleted in " +
				"between, or the database was restored" + end,
		},
		{"any, but there is none", Expected{{-1, 0}}, Head{}, "If-Match asks for any revision, but there is none yet" + end},
		{"nothing at all", Expected{}, head, "If-Match asks for any revision, but there is none yet" + end},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.expected.Check(c.head)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if fault.KindOf(err) != fault.Stale || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that is stale with %q", err, c.want)
			}
			stale, ok := errors.AsType[*Stale](err)
			if !ok || stale.Head != c.head || !strings.HasPrefix(stale.Error(), "the newest revision is ") {
				t.Errorf("cause %v, want the head", stale)
			}
			f := new(fault.Fault)
			if !errors.As(err, &f) || !cmp.Equal(f.Metadata, map[string]any{"revision": c.head.Revision}) {
				t.Errorf("metadata %v", f.Metadata)
			}
		})
	}
}
