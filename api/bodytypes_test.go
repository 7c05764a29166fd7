package api

import "testing"

// Bodies are archives only on the routes of packages, whatever the name of the bucket.
func TestTakesArchive(t *testing.T) {
	t.Parallel()
	for path, takes := range map[string]bool{
		"/api/v1.0/packages/check":                     true,
		"/api/v1.0/buckets/b/packages/io.Ex":           true,
		"/api/v1.0/buckets/packages/documents":         false,
		"/api/v1.0/buckets/a%2Fpackages%2Fb/documents": false,
		"/api/v1.0/revisions/1/tags/packages":          false,
	} {
		if takesArchive.MatchString(path) != takes {
			t.Errorf("%s: %v", path, !takes)
		}
	}
}
