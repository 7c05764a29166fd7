package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// unpacked returns the text of an answer.
func (r response) unpacked(t *testing.T) string {
	t.Helper()
	var source io.Reader = strings.NewReader(r.text)
	var err error
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "":
	case "gzip":
		source, err = gzip.NewReader(source)
	case "zstd":
		source, err = zstd.NewReader(source)
	default:
		t.Fatalf("the answer is encoded by %q", encoding)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(source)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// large returns a site with more than a megabyte of documents, so that lists of them have no Content-Length.
func large(t *testing.T) site {
	t.Helper()
	s := newSite(t)
	var body strings.Builder
	for i := range 40 {
		body.WriteString(strings.Replace(widget(fmt.Sprintf("w%d", i), "{}"), "data: {}",
			"data: {text: "+strings.Repeat("purser ", 6000)+"}", 1))
	}
	s.put(t, "large", body.String()).is(t, http.StatusOK)
	return s
}

func TestHandler_compressed(t *testing.T) {
	t.Parallel()
	s, plains := large(t), map[string]response{}
	for _, c := range []struct{ path, accepted, want string }{
		{"revisions/1/documents", "", ""},
		{"revisions/1/documents", "identity", ""},
		{"revisions/1/documents", "br, deflate", ""},
		{"revisions/1/documents", "gzip", "gzip"},
		{"revisions/1/documents", "gzip, deflate", "gzip"},
		{"revisions/1/documents", "GZIP", "gzip"},
		{"revisions/1/documents", "gzip, zstd", "zstd"},
		{"revisions/1/documents", "zstd;q=0.5, gzip", "gzip"},
		{"revisions/1/documents", "zstd;q=0, gzip;q=0", ""},
		{"revisions/1/documents", "zstd;q=x", "zstd"},
		{"revisions/1/documents?metadata.name=w1", "zstd", "zstd"}, // with a length
		{"revisions/1/documents?metadata.name=none", "gzip", ""},
		{"revisions/1/rendered-documents", "gzip", ""}, // an error, without a LayeringPolicy
		{"revisions/1", "gzip", ""},
		{"/api/v1.0/health", "gzip", ""},
		{"/metrics", "gzip", "gzip"}, // by the library that writes it
	} {
		plain, known := plains[c.path]
		if !known {
			plain = s.get(t, c.path)
			plains[c.path] = plain
		}
		got := s.get(t, c.path, "Accept-Encoding", c.accepted)
		if encoding := got.Header.Get("Content-Encoding"); encoding != c.want || got.StatusCode != plain.StatusCode {
			t.Errorf("%s as %q: encoded by %q, status %d; want %q, %d", c.path, c.accepted, encoding, got.StatusCode, c.want,
				plain.StatusCode)
		}
		if c.path != "/metrics" && plain.StatusCode == http.StatusOK && got.unpacked(t) != plain.text {
			t.Errorf("%s as %q has another text", c.path, c.accepted)
		}
		if length := got.Header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(got.text)) {
			t.Errorf("%s as %q: Content-Length %s of %d bytes", c.path, c.accepted, length, len(got.text))
		}
		if c.want != "" && len(got.text)*4 > len(plain.text) {
			t.Errorf("%s as %q: %d of %d bytes are left", c.path, c.accepted, len(got.text), len(plain.text))
		}
	}
}

// A compressed answer has a weak ETag, which conditions accept for both the compressed and the plain answer.
func TestHandler_compressedConditions(t *testing.T) {
	t.Parallel()
	s := large(t)
	for _, path := range []string{"revisions/1/documents", "revisions/1/documents?metadata.name=w1"} {
		plain := s.get(t, path).Header.Get("ETag")
		packed := s.get(t, path, "Accept-Encoding", "gzip").Header
		want := []string{"W/" + plain, "Accept, Accept-Encoding"}
		if diff := cmp.Diff(want, []string{packed.Get("ETag"), packed.Get("Vary")}); diff != "" {
			t.Errorf("%s: ETag and Vary (-want +got):\n%s", path, diff)
		}
		for _, known := range []string{plain, "W/" + plain} {
			for encoding, want := range map[string]string{"": plain, "gzip": "W/" + plain, "zstd": "W/" + plain} {
				again := s.get(t, path, "Accept-Encoding", encoding, "If-None-Match", known).is(t, http.StatusNotModified)
				if tag := again.Header.Get("ETag"); tag != want || again.text != "" || again.Header.Get("Content-Encoding") != "" {
					t.Errorf("%s as %q with 304: %s, want %s", path, encoding, tag, want)
				}
			}
		}
	}
	tag := s.get(t, "revisions/1/documents", "Accept-Encoding", "zstd").Header.Get("ETag")
	written := s.put(t, "other", widget("v", "{}"), "If-Match", tag, "Accept-Encoding", "zstd").is(t, http.StatusOK)
	if tag := written.Header.Get("ETag"); !strings.HasPrefix(tag, `"2-`) {
		t.Errorf("after a change the ETag is %s", tag)
	}
}

// stuck is a client that does not read for a while.
type stuck struct {
	*httptest.ResponseRecorder

	once           sync.Once
	began, proceed chan struct{}
}

// Write implements http.ResponseWriter.
func (s *stuck) Write(text []byte) (int, error) {
	s.once.Do(func() { close(s.began) })
	<-s.proceed
	return s.ResponseRecorder.Write(text)
}

// Clients that do not read cannot use more than maxCompressors; further answers are sent uncompressed.
func TestHandler_compressedAtOnce(t *testing.T) {
	t.Parallel()
	const bound = 32
	s := large(t)
	proceed := make(chan struct{})
	var group sync.WaitGroup
	var answers []*stuck
	for range bound {
		answer := &stuck{ResponseRecorder: httptest.NewRecorder(), began: make(chan struct{}), proceed: proceed}
		answers = append(answers, answer)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1.0/revisions/1/documents", http.NoBody)
		r.Header = http.Header{"Accept-Encoding": {"gzip"}, "Accept": {"application/json"}} // which costs less than YAML
		group.Go(func() { s.ServeHTTP(answer, r) })
		<-answer.began
	}
	get := func(encoding, query string) response {
		return s.get(t, "revisions/1/documents"+query, "Accept-Encoding", encoding, "Accept", "application/json").is(t, http.StatusOK)
	}
	if encoding := get("gzip", "").Header.Get("Content-Encoding"); encoding != "" {
		t.Errorf("answer %d is encoded by %s", bound+1, encoding)
	}
	if encoding := get("gzip, zstd", "").Header.Get("Content-Encoding"); encoding != "zstd" {
		t.Errorf("by the other method: %q", encoding)
	}
	close(proceed)
	group.Wait()
	whole := get("", "").text
	for _, answer := range answers {
		if got := (response{answer.Result(), "", answer.Body.String()}).unpacked(t); got != whole {
			t.Fatal("an answer that was read late is damaged")
		}
	}
	const small = "?metadata.name=w1"
	whole = get("", small).text
	for range bound + 1 {
		if got := get("gzip", small); got.Header.Get("Content-Encoding") != "gzip" || got.unpacked(t) != whole {
			t.Fatalf("after that an answer is encoded by %q", got.Header.Get("Content-Encoding"))
		}
	}
}

// An aborted answer does not look complete, and its compressor is reused.
func TestHandler_compressedPanic(t *testing.T) {
	t.Parallel()
	s := large(t)
	for range 33 { // one more than there are compressors
		recorder := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1.0/revisions/1/documents", http.NoBody)
		r.Header = http.Header{"Accept-Encoding": {"gzip"}, "Accept": {"application/json"}} // which costs less than YAML
		if ended := serveBrittle(s, recorder, r); ended == nil {
			t.Fatal("the answer is completed")
		}
		if unpacked, err := gzip.NewReader(bytes.NewReader(recorder.Body.Bytes())); err == nil {
			if _, err := io.ReadAll(unpacked); err == nil {
				t.Fatal("what was sent looks complete")
			}
		}
	}
	if encoding := s.get(t, "revisions/1/documents", "Accept-Encoding", "gzip").Header.Get("Content-Encoding"); encoding != "gzip" {
		t.Errorf("after that an answer is encoded by %q", encoding)
	}
}

// serveBrittle serves an answer whose writing panics, and returns the recovered value.
func serveBrittle(s site, recorder *httptest.ResponseRecorder, r *http.Request) (ended any) {
	defer func() { ended = recover() }()
	s.ServeHTTP(brittle{recorder}, r)
	return nil
}
