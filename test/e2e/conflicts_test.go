package e2e_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestPutBucket_ownership(t *testing.T) {
	t.Parallel()
	w1, w2 := widget("w1", "{x: 1}"), widget("w2", "{x: 2}")
	const taken = "Document [acme/Widget/v1, site] w1 already exists in bucket: mop"
	for name, test := range map[string]func(*testing.T, *server){
		"a document belongs to one bucket": func(t *testing.T, s *server) {
			s.put(t, "mop", w1)
			s.put(t, "thief", w1).fails(t, http.StatusConflict, "DuplicateDocumentExists", taken)
			s.isRevision(t, 1)
		},
		"also with other content": func(t *testing.T, s *server) {
			s.put(t, "mop", w1)
			s.put(t, "thief", w2+widget("w1", "{x: 5}")).fails(t, http.StatusConflict, "DuplicateDocumentExists", taken)
			s.get(t, "revisions/latest/documents").isNames(t, "w1@1")
		},
		"also when another bucket was written in between": func(t *testing.T, s *server) {
			s.put(t, "mop", w1)
			s.put(t, "other", w2)
			s.put(t, "thief", w1).fails(t, http.StatusConflict, "DuplicateDocumentExists", taken)
		},
		"a deleted document may be created elsewhere": func(t *testing.T, s *server) {
			s.put(t, "mop", w1+w2)
			s.put(t, "mop", w2)
			s.put(t, "heir", w1).isNames(t, "w1@3")
			s.put(t, "mop", w2+w1).fails(t, http.StatusConflict, "DuplicateDocumentExists", "in bucket: heir")
		},
		"the same name in another layer is another document": func(t *testing.T, s *server) {
			s.put(t, "mop", w1)
			s.put(t, "other", strings.Replace(w1, "layer: site", "layer: global", 1)).isNames(t, "w1@2")
		},
		"twice in a payload": func(t *testing.T, s *server) {
			s.put(t, "mop", w1+widget("w1", "{x: 3}")).fails(t, http.StatusConflict, "DuplicateDocumentExists", taken)
			s.isRevision(t, 0)
		},
		"twice in a payload without a layer": func(t *testing.T, s *server) {
			s.put(t, "mop", dataSchema("acme/A/v1", "{}")+dataSchema("acme/A/v1", "{type: object}")).
				fails(t, http.StatusConflict, "DuplicateDocumentExists", "[deckhand/DataSchema/v1, None] acme/A/v1", "mop")
			s.isRevision(t, 0)
		},
		"the same text twice in a payload": func(t *testing.T, s *server) {
			s.put(t, "mop", w1)
			s.put(t, "mop", w1+w1).fails(t, http.StatusConflict, "DuplicateDocumentExists", taken)
			s.isRevision(t, 1)
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

func TestPutBucket_layeringPolicyIsSingleton(t *testing.T) {
	t.Parallel()
	a, b := layeringPolicy("a"), layeringPolicy("b")
	const conflict = "A singleton document [deckhand/LayeringPolicy/v1, None] a already exists in the system. " +
		"The new document(s) [deckhand/LayeringPolicy/v1, None] b cannot be created. " +
		"To create a document with a new name, delete the current one first"
	refused := func(t *testing.T, got answer) {
		t.Helper()
		got.fails(t, http.StatusConflict, "SingletonDocumentConflict", conflict)
	}
	for name, test := range map[string]func(*testing.T, *server){
		"a second one in another bucket": func(t *testing.T, s *server) {
			s.put(t, "mop", a)
			refused(t, s.put(t, "other", b))
		},
		"a second one in another bucket after other PUTs": func(t *testing.T, s *server) {
			s.put(t, "mop", a)
			s.put(t, "x", widget("w1", "{}"))
			refused(t, s.put(t, "other", b))
		},
		"a renamed one in the same bucket": func(t *testing.T, s *server) {
			s.put(t, "mop", a)
			refused(t, s.put(t, "mop", b))
		},
		"a second one beside the first": func(t *testing.T, s *server) {
			s.put(t, "mop", a)
			refused(t, s.put(t, "mop", a+b))
			refused(t, s.put(t, "mop", b+a))
		},
		"two in one payload on an empty system": func(t *testing.T, s *server) {
			refused(t, s.put(t, "mop", a+b))
			s.isRevision(t, 0)
		},
		"the same in another bucket is owned": func(t *testing.T, s *server) {
			s.put(t, "mop", a)
			s.put(t, "other", a).fails(t, http.StatusConflict, "DuplicateDocumentExists", "in bucket: mop")
		},
		"an update is no second one": func(t *testing.T, s *server) {
			s.put(t, "mop", a)
			s.put(t, "mop", strings.Replace(a, "[global, site]", "[site]", 1)).isNames(t, "a@2")
		},
		"after deletion another may come": func(t *testing.T, s *server) {
			s.put(t, "mop", a)
			s.put(t, "mop", "")
			s.put(t, "other", b).isNames(t, "b@3")
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}
