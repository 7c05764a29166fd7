package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"purser/internal/budget"
	"purser/internal/client"
	"purser/internal/wire"
)

const (
	// maxUpload bounds a file that is uploaded, in bytes, and maxUploadForm the form with it.
	maxUpload     = 2 << 20
	maxUploadForm = 3 << 20
	// patience is the time that the form may take to arrive.
	patience = time.Minute
)

// uploadView is the content of the page that uploads a file, and of its preview.
type uploadView struct {
	*pageBuffer

	Bucket, Message string
	Many            bool   // there are other sites to copy from
	Error           string // why there is no preview
	Documents       string // the file, packed, for the form that makes the change
	previewed
	Findings []wire.Finding
}

// previewed is what a change would do.
type previewed struct {
	Head    string // the ETag of the newest revision, on which the preview is based; "" without a preview
	Preview wire.Preview[wire.Finding]
	Changes []comparison
}

// previewedBy returns what a dry run says.
func previewedBy(done client.Written) (shown previewed, err error) {
	shown.Head = done.ETag
	if shown.Preview, err = done.Preview(); err != nil {
		return shown, err
	}
	for _, d := range shown.Preview.Documents {
		shown.Changes = append(shown.Changes, comparison{Document: d.Identity(), Change: wordFor(d.Change)})
	}
	return shown, nil
}

// uploading returns the handler of a form with a file. It reads forms only of users who may push documents.
func (s *server) uploading(show handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := s.visit(w, r)
		err := v.api.Get(r.Context(), &v.caller, nil, "whoami")
		switch {
		case refusedWith(err, http.StatusUnauthorized):
			s.askToSignIn(v)
			return
		case err == nil && !v.allowed().RollBack:
			err = &refusal{Status: http.StatusForbidden, Message: "You have no right to push documents."}
		}
		if err != nil {
			v.fail(err)
			return
		}
		ctx, cancel := context.WithTimeout(budget.WithOwner(r.Context(), v.owner(v.caller.User.ID)), patience)
		defer cancel()
		end, err := s.uploads.Acquire(ctx, budget.Claim{Weight: 1})
		if err != nil {
			v.fail(&refusal{Status: http.StatusServiceUnavailable, Message: "Other uploads take too long. Try again."})
			return
		}
		defer end()
		deadline := http.NewResponseController(w).SetReadDeadline
		_ = deadline(time.Now().Add(patience)) // tests have no connection
		s.form(maxUploadForm, func(v *visit) (view, error) {
			_ = deadline(time.Time{}) // otherwise it would end the request, too
			return show(v)
		})(w, r)
	}
}

// upload shows the form for a file.
func (v *visit) upload() (view, error) {
	if v.Archived {
		return view{}, &refusal{Status: http.StatusConflict, Message: "The site is archived and takes no changes."}
	}
	if !v.allowed().RollBack {
		return view{}, &refusal{Status: http.StatusForbidden, Message: "You have no right to push documents."}
	}
	return v.uploadPage(uploadView{Bucket: v.param("bucket")}), nil
}

func (v *visit) uploadPage(page uploadView) view {
	page.pageBuffer, page.Many = v.pageBuffer, v.many || v.site != ""
	return view{template: "upload", Title: "Upload", Section: "upload", Data: page}
}

// previewUpload shows what pushing the file of the form would change.
func (v *visit) previewUpload() (view, error) {
	page := uploadView{Bucket: v.field("bucket"), Message: v.field("message")}
	file, _, err := v.FormFile("file")
	if err != nil {
		page.Error = "Choose a file of at most 2 MiB."
		return v.uploadPage(page), nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxUpload+1))
	if err != nil {
		return view{}, errForm
	}
	if len(text) > maxUpload {
		page.Error = "The file has more than 2 MiB; use the command purser push."
		return v.uploadPage(page), nil
	}
	done, err := v.api.Put(v.Context(), page.Bucket, text, client.Change{
		Message: page.Message, DryRun: true, MaxDeleted: -1, Findings: v.may("deckhand:list_validations"),
	})
	if err = refused(err); refusedWith(err, http.StatusBadRequest, http.StatusConflict) {
		page.Error = err.Error()
		return v.uploadPage(page), nil
	}
	if err != nil {
		return view{}, err
	}
	if page.previewed, err = previewedBy(done); err != nil {
		return view{}, err
	}
	if page.Preview.Total > 0 {
		page.Findings = page.Preview.Findings
	}
	page.Documents, err = packed(text)
	return v.uploadPage(page), err
}

// pushUpload pushes the file that was previewed, unless there is a newer revision than then.
func (v *visit) pushUpload() (view, error) {
	text, err := unpacked(v.PostForm.Get("documents"))
	head, bucket := v.field("head"), v.field("bucket")
	if err != nil || head == "" || bucket == "" {
		return view{}, errForm
	}
	done, err := v.api.Put(v.Context(), bucket, text, client.Change{
		Message: v.field("message"), IfMatch: head, MaxDeleted: -1,
	})
	if err != nil {
		return view{}, refused(err)
	}
	v.goTo(v.Base.Link("revisions", done.Revision))
	return view{}, nil
}

// packed returns a text as a form can carry it.
func packed(text []byte) (string, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return "", fmt.Errorf("pack a file: %w", err)
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("pack a file: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes()), nil
}

// unpacked returns the text of at most maxUpload bytes that packed has packed.
func unpacked(text string) ([]byte, error) {
	r, err := gzip.NewReader(base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(text)))
	if err != nil {
		return nil, fmt.Errorf("unpack a file: %w", err)
	}
	found, err := io.ReadAll(io.LimitReader(r, maxUpload+1))
	if err == nil && len(found) > maxUpload {
		err = fmt.Errorf("it has more than %d bytes", maxUpload)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack a file: %w", err)
	}
	return found, nil
}
