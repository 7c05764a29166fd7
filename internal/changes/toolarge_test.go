package changes

import (
	"strings"
	"testing"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// largeSource writes a document whose text of so many bytes copies take.
func largeSource(size int) string {
	return layeringPolicy("policy") + widget("source", "{x: "+strings.Repeat("x", size)+"}")
}

// copies writes so many documents that take the text.
func copies(name string, n int) string {
	return strings.ReplaceAll(each(n, func(i int) string { return taking(i, "source", 1, "path: .t", "{}") }), "name: d", "name: "+name)
}

// A change after which all documents together are too large to be rendered is refused. Others are judged as before.
func TestPut_siteTooLarge(t *testing.T) {
	t.Parallel()
	s, m := service()
	s.DefaultValidations = append(s.DefaultValidations, RevisionValidations()...)
	put(t, s, "source", largeSource(1_000_000))
	put(t, s, "copies", copies("c", 65))
	for _, c := range []struct{ bucket, body string }{{"more", copies("more", 3)}, {"source", largeSource(1_050_000)}} {
		for _, dryRun := range []bool{false, true} {
			_, err := s.Put(t.Context(), c.bucket, []byte(c.body), document.YAML, revisions.Options{DryRun: dryRun})
			wantFault(t, err, fault.Conflict, "more than 64 MiB, the limit for a site")
		}
	}
	put(t, s, "other", widget("other", "{}"))
	if result := m.commits[len(m.commits)-1].Results[1]; string(result.Errors) != "[]" {
		t.Errorf("%s: %s", result.Name, result.Errors)
	}
}

// A site that is too large, because its policy did not require that it is rendered, may not grow, but become smaller.
func TestPut_siteTooLarge_before(t *testing.T) {
	t.Parallel()
	s, m := service()
	for bucket, body := range map[string]string{
		"source": largeSource(1_000_000), "copies": copies("c", 65), "more": copies("more", 6), "other": widget("other", "{x: 10}"),
	} {
		put(t, s, bucket, body)
	}
	s, _ = service()
	s.Store, s.DefaultValidations = m, append(s.DefaultValidations, RevisionValidations()...)
	for _, c := range []struct {
		bucket, body string
		refused      bool
	}{
		{"other", widget("other", "{x: 11}"), false},
		{"other", widget("other", "{x: 110}"), true},
		{"more", copies("more", 5), false},
		{"more", copies("more", 6), true},
		{"more", copies("more", 1), false}, // small enough
		{"more", copies("more", 6), true},
		{"other", widget("other", "{x: 110}"), false},
	} {
		_, err := s.Put(t.Context(), c.bucket, []byte(c.body), document.YAML, revisions.Options{})
		if c.refused {
			wantFault(t, err, fault.Conflict, "more than 64 MiB, the limit for a site")
		} else if err != nil {
			t.Errorf("%s: %v", c.bucket, err)
		}
	}
}
