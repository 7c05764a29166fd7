package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"purser/internal/client"
)

// allowed has the actions that the user may take on a revision; none in an archived site.
type allowed struct{ Tag, Untag, RollBack, Post, Waive bool }

func (v *visit) allowed() allowed {
	if v.Archived {
		return allowed{}
	}
	return allowed{
		Tag: v.may("deckhand:create_tag"), Untag: v.may("deckhand:delete_tag"),
		RollBack: v.may("deckhand:create_cleartext_documents"), Post: v.may("deckhand:create_validation"),
		Waive: v.may("purser:create_waiver"),
	}
}

// field returns a field of the submitted form.
func (v *visit) field(name string) string { return strings.TrimSpace(v.PostForm.Get(name)) }

// act sends a change to the API and shows the revision that it is about.
func (v *visit) act(c client.Request, section string) (view, error) {
	if _, err := v.api.Do(v.Context(), c); err != nil {
		return view{}, err
	}
	v.goTo(v.Base.Link("revisions", v.PathValue("revision")) + "#" + section)
	return view{}, nil
}

// goTo sends the browser to another page.
func (v *visit) goTo(page string) {
	http.Redirect(v.w, v.Request, page, http.StatusSeeOther) //nolint:gosec,nolintlint // not always seen
}

// about returns the query that ties a change to the revision that was shown.
func (v *visit) about() url.Values { return url.Values{"revision-stamp": {v.field("stamp")}} }

// tag sets a tag.
func (v *visit) tag() (view, error) {
	return v.act(client.Request{
		Method: http.MethodPost, Path: []string{"revisions", v.PathValue("revision"), "tags", v.field("name")},
		Query: v.about(), Body: []byte("{}"), JSON: true,
	}, "tags")
}

// untag deletes a tag.
func (v *visit) untag() (view, error) {
	return v.act(client.Request{
		Method: http.MethodDelete, Path: []string{"revisions", v.PathValue("revision"), "tags", v.Form.Get("name")},
		Query: v.about(),
	}, "tags")
}

// post posts a validation result entered by the user.
func (v *visit) post() (view, error) {
	result := map[string]any{
		"status": v.field("status"), "validator": map[string]string{"name": "by-hand", "version": "1.0"},
	}
	if message := v.field("message"); message != "" && result["status"] != success {
		result["errors"] = []map[string]string{{"message": message}}
	}
	body, err := json.Marshal(result)
	if err != nil {
		return view{}, fmt.Errorf("write the result: %w", err)
	}
	return v.act(client.Request{
		Method: http.MethodPost, Path: []string{"revisions", v.PathValue("revision"), "validations", v.field("name")},
		Query: v.about(), Body: body, JSON: true,
	}, "validations")
}

// rollbackView is the content of the page with the preview of a rollback.
type rollbackView struct {
	*pageBuffer

	To      string
	Message string
	previewed
}

// rollBack previews a rollback and, once confirmed, rolls back.
func (v *visit) rollBack() (view, error) {
	to, head, message := v.PathValue("revision"), v.field("head"), v.field("message")
	if v.Method != http.MethodPost { // a preview, which can be opened again
		if site := v.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
			return view{}, errForged // it would be in the audit
		}
		head, message = "", strings.TrimSpace(v.param("message"))
	}
	done, err := v.api.Rollback(v.Context(), to, client.Change{
		Message: message, IfMatch: head, DryRun: head == "", MaxDeleted: -1,
	})
	if err != nil {
		return view{}, refused(err)
	}
	if head != "" {
		v.goTo(v.Base.Link("revisions", done.Revision))
		return view{}, nil
	}
	page := rollbackView{pageBuffer: v.pageBuffer, To: to, Message: message}
	if page.previewed, err = previewedBy(done); err != nil {
		return view{}, err
	}
	return view{template: "rollback", Title: "Roll back to revision " + to, Section: "revisions", Data: page}, nil
}

// events forwards the API's stream of events until the session ends.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	session := s.cookies.Session(r)
	ctx := r.Context()
	if session.Token != "" {
		limited, cancel := context.WithTimeout(ctx, session.Until.Sub(s.Now()))
		defer cancel()
		ctx = limited
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		placeOf(ctx).prefix+"/api/v1.0/events?since=now", http.NoBody)
	if err != nil {
		s.logError(r, err)
		return
	}
	request.Header.Set("Accept", "text/event-stream")
	if last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
		request.Header.Set("Last-Event-ID", strconv.FormatInt(last, 10))
	}
	s.API.ServeHTTP(w, inProcess{api: s.API, outer: r, token: session.Token}.request(request))
}
