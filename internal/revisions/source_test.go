package revisions_test

import (
	"strings"
	"testing"

	"purser/internal/revisions"
)

func TestParseSource(t *testing.T) {
	t.Parallel()
	const id = "8f2c41d09b6e7a3155d0c8e2f4b7a9610d3e5c72"
	for text, commit := range map[string]string{
		"https://github.com/acme/site/commit/" + id:                               id,
		"https://gitlab.com/acme/sites/west/-/commit/" + id:                       id,
		"https://git.example:8443/acme/site/tree/" + id + "/site/west":            id,
		"https://git.example/cgit/site/commit/?id=" + id:                          id,
		"https://git.example/gitweb?p=site.git&a=commit&h=" + id:                  id,
		"https://git.example/plugins/gitiles/site/+/" + id:                        id,
		"git+https://git.example/acme/site.git@" + id:                             id,
		"git+https://git.example/acme/site.git@" + id + "#subdirectory=a":         id,
		"git+https://git.example/acme/site#" + id:                                 id,
		"git+https://git.example/acme/site?ref=" + id[:12]:                        id[:12],
		"https://git.example/commit/" + strings.ToUpper(id):                       id,
		"https://git.example/commit/8f2c41d":                                      "8f2c41d",
		"https://git.example/commit/" + strings.Repeat("0123abcd", 8):             strings.Repeat("0123abcd", 8),
		"https://git.example/1234567/site/commit/8f2c41d":                         "8f2c41d", // the last one
		"https://git.example/commit/" + id + "/20261127":                          id,        // the longest one
		"https://[2001:db8::1]/site/commit/8f2c41d":                               "8f2c41d",
		"https://a/8f2c41d/" + strings.Repeat("x", 500-len("https://a/8f2c41d/")): "8f2c41d",
	} {
		source, err := revisions.ParseSource(text)
		if err != nil || string(source) != text || source.Commit() != commit {
			t.Errorf("ParseSource(%q) = %q, %v, with the commit %q; want %q", text, source, err, source.Commit(), commit)
		}
	}
	for text, want := range map[string]string{
		"": "begin with", "8f2c41d": "begin with", "http://git.example/commit/8f2c41d": "begin with",
		"HTTPS://git.example/commit/8f2c41d": "begin with", "git@github.com:acme/site/8f2c41d": "begin with",
		"ssh://git@git.example/site/8f2c41d": "begin with", "git+ssh://git.example/site@8f2c41d": "begin with",
		"git+git+https://git.example/8f2c41d": "begin with", "javascript:8f2c41d": "begin with",
		"https:///commit/8f2c41d": "begin with", "https://:443/commit/8f2c41d": "begin with", "https:8f2c41d": "begin with",
		"https://git.example/%zz/8f2c41d": "begin with", "//git.example/commit/8f2c41d": "begin with",
		"https://bob@git.example/commit/8f2c41d": "a user", "https://bob:secret@git.example/commit/8f2c41d": "a user",
		"https://@git.example/commit/8f2c41d":        "a user",
		"https://git.example/commit/main":            "names no commit",
		"https://git.example/commit/8f2c41":          "names no commit",
		"https://git.example/commit/" + id + id[:25]: "names no commit",
		"https://git.example/commit/8f2c41d-dirty":   "names no commit",
		"https://8f2c41d":                            "names no commit", "https://8f2c41d/": "names no commit",
		"https://git.example/commit/8f2c41d\n": "escaped", "https://git.example/commit/ 8f2c41d": "escaped",
		"https://git.example/é/8f2c41d": "escaped", "https://git.example/\x7f/8f2c41d": "escaped", "\x00": "escaped",
		"https://a/8f2c41d/" + strings.Repeat("x", 501-len("https://a/8f2c41d/")): "501 characters",
	} {
		if source, err := revisions.ParseSource(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSource(%q) = %q, %v; want an error with %q", text, source, err, want)
		}
	}
}

func TestParseCommit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"8f2c41d": "8f2c41d", "8F2C41D": "8f2c41d", strings.Repeat("a", 64): strings.Repeat("a", 64),
		"8f2c41": "", strings.Repeat("a", 65): "", "8f2c41g": "", "": "", "8f2c41d\n": "", "é8f2c41d": "",
	} {
		if id, ok := revisions.ParseCommit(text); ok != (want != "") || ok && id != want {
			t.Errorf("ParseCommit(%q) = %q, %t; want %q", text, id, ok, want)
		}
	}
}
