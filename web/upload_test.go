package web_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// upload sends the form with a file.
func (b *browser) upload(t *testing.T, text string, header ...string) answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("bucket", "site")
	file, err := form.CreateFormFile("file", "site.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write([]byte(text))
	return b.sendBody(t, "/ui/upload", &body, form, header...)
}

// sendParts sends a form as one with a file is sent.
func (b *browser) sendParts(t *testing.T, target string, fields url.Values) answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name := range fields {
		_ = form.WriteField(name, fields.Get(name))
	}
	return b.sendBody(t, target, &body, form)
}

// sendBody sends a form that was written to a body.
func (b *browser) sendBody(t *testing.T, target string, body *bytes.Buffer, form *multipart.Writer, header ...string) answer {
	t.Helper()
	_ = form.Close()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://purser.example"+target, body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	for _, cookie := range b.jar.Cookies(r.URL) {
		r.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	b.pages.ServeHTTP(w, r)
	return answer{w.Result(), w.Body.String()}
}

// A file that is uploaded is previewed first, and pushed exactly as previewed.
func TestUpload(t *testing.T) {
	t.Parallel()
	s := broken(t)
	b := s.as(t, "admin")
	b.get(t, "/ui/").shows(t, "Upload")
	wellFormed(t, "upload", b.get(t, "/ui/upload").is(t, http.StatusOK))
	text := host("cmp-1", 2) + "\n" + host("cmp-2", 97)
	preview := b.upload(t, text).is(t, http.StatusOK)
	preview.shows(t, "Push to bucket site ?", "The new revision may not be deployed", "changed acme/Host/v1 cmp-2",
		"line 9: acme/Host/v1 cmp-2 layer site error .data.rack 97 is greater than the maximum of 40")
	wellFormed(t, "preview", preview)
	b.get(t, "/ui/").shows(t, "Revision 3 may not")
	form := preview.form(t, "/ui/upload/push")
	form.Set("message", "as uploaded")
	done := b.send(t, http.MethodPost, "/ui/upload/push", form, "Sec-Fetch-Site", "same-origin").is(t, http.StatusSeeOther)
	if to := done.Header.Get("Location"); to != "/ui/revisions/4" {
		t.Errorf("sent to %q", to)
	}
	b.get(t, "/ui/revisions/4").shows(t, "as uploaded", "97 is greater")
	b.send(t, http.MethodPost, "/ui/upload/push", form).is(t, http.StatusPreconditionFailed) // there is a newer one
	b.upload(t, text).shows(t, "there is nothing to do")
	b.upload(t, "a: [").is(t, http.StatusOK).shows(t, "the bracket '[' that opens here is not closed", "File with documents")
}

// What cannot be uploaded is refused: files that are too large, forms that were changed or have no preview, and those of
// users without the right or of other sites.
func TestUpload_refused(t *testing.T) {
	t.Parallel()
	s := broken(t)
	b := s.as(t, "admin")
	b.upload(t, strings.Repeat("#", 2<<20+1)).is(t, http.StatusOK).shows(t, "The file has more than 2 MiB")
	b.upload(t, strings.Repeat("#", 4<<20)).is(t, http.StatusBadRequest)
	for _, form := range []url.Values{
		{}, {"head": {`"3"`}, "bucket": {"site"}, "documents": {"text"}}, {"bucket": {"site"}, "documents": {""}},
	} {
		b.send(t, http.MethodPost, "/ui/upload/push", form).is(t, http.StatusBadRequest)
	}
	b.upload(t, "", "Sec-Fetch-Site", "cross-site").is(t, http.StatusForbidden)
	reader := s.as(t, "reader")
	reader.get(t, "/ui/upload").is(t, http.StatusForbidden)
	reader.upload(t, "").is(t, http.StatusForbidden)
	if strings.Contains(reader.get(t, "/ui/").text, "/ui/upload") {
		t.Error("the reader is shown a link to the page")
	}
	if to := s.browser(t).upload(t, "").is(t, http.StatusSeeOther).Header.Get("Location"); to != "/ui/sign-in?next=%2Fui%2Fupload" {
		t.Errorf("sent to %q", to)
	}
}
