package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"purser/internal/client"
)

// The authorization rules for changes.
const (
	mayTag      = "deckhand:create_tag"
	mayUntag    = "deckhand:delete_tag"
	mayRollBack = "deckhand:create_cleartext_documents"
	mayPost     = "deckhand:create_validation"
)

// allowed has the actions that the user may take on a revision.
type allowed struct{ Tag, Untag, RollBack, Post bool }

// Any reports whether the user may do anything.
func (a allowed) Any() bool { return a.Tag || a.RollBack || a.Post }

func (v *visit) allowed() allowed {
	return allowed{v.may(mayTag), v.may(mayUntag), v.may(mayRollBack), v.may(mayPost)}
}

// field returns a field of the submitted form.
func (v *visit) field(name string) string { return strings.TrimSpace(v.PostForm.Get(name)) }

// act sends a change to the API and shows the revision that it is about.
func (v *visit) act(c call, section string) (view, error) {
	if _, err := v.api.do(v.Context(), c); err != nil {
		return view{}, err
	}
	v.goTo(v.link([]string{"revisions", v.PathValue("revision")}) + "#" + section)
	return view{}, nil
}

// goTo sends the browser to another page.
func (v *visit) goTo(page string) { http.Redirect(v.w, v.Request, page, http.StatusSeeOther) }

// about returns the query that ties a change to the revision that was shown.
func (v *visit) about() url.Values { return url.Values{"revision-stamp": {v.field("stamp")}} }

// tag sets a tag.
func (v *visit) tag() (view, error) {
	return v.act(call{
		method: http.MethodPost, path: []string{"revisions", v.PathValue("revision"), "tags", v.field("name")},
		query: v.about(), body: []byte("{}"),
	}, "tags")
}

// untag deletes a tag.
func (v *visit) untag() (view, error) {
	return v.act(call{
		method: http.MethodDelete, path: []string{"revisions", v.PathValue("revision"), "tags", v.PostForm.Get("name")},
		query: v.about(),
	}, "tags")
}

// post posts a validation result entered by the user.
func (v *visit) post() (view, error) {
	type validator struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	type failed struct {
		Message string `json:"message"`
	}
	result := struct {
		Status    string    `json:"status"`
		Validator validator `json:"validator"`
		Errors    []failed  `json:"errors,omitempty"`
	}{Status: v.field("status"), Validator: validator{"by-hand", "1.0"}}
	if message := v.field("message"); message != "" && result.Status != success {
		result.Errors = []failed{{message}}
	}
	body, err := json.Marshal(result)
	if err != nil {
		return view{}, err //nolint:wrapcheck // of texts
	}
	return v.act(call{
		method: http.MethodPost, path: []string{"revisions", v.PathValue("revision"), "validations", v.field("name")},
		query: v.about(), body: body,
	}, "validations")
}

// rollbackView is the content of the page with the preview of a rollback.
type rollbackView struct {
	*paper

	To      string
	Head    string // the ETag of the newest revision, on which the preview is based
	Message string
	Preview client.Preview
	Changes []comparison
	Verdict string
}

// rollBack previews a rollback and, once confirmed, rolls back.
func (v *visit) rollBack() (view, error) {
	to, head, message := v.PathValue("revision"), v.field("head"), v.field("message")
	query := url.Values{}
	if message != "" {
		query.Set("message", message)
	}
	if head == "" {
		query.Set("dry-run", "true")
	}
	done, err := v.api.do(v.Context(), call{
		method: http.MethodPost, path: []string{"rollback", to}, query: query, match: head,
	})
	if err != nil {
		return view{}, err
	}
	if head != "" {
		v.goTo(v.link([]string{"revisions", done.header.Get("Purser-Revision")}))
		return view{}, nil
	}
	page := rollbackView{paper: v.paper, To: to, Head: done.header.Get("ETag"), Message: message}
	if err := done.decode(&page.Preview); err != nil {
		return view{}, err
	}
	for _, d := range page.Preview.Documents {
		page.Changes = append(page.Changes, comparison{Document: d.Identity, Change: wordFor(d.Change)})
	}
	return view{template: "rollback", title: "Roll back to revision " + to, section: "revisions", data: page}, nil
}

// events forwards the API's stream of events until the session ends.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	session := s.sessionOf(r)
	ctx := r.Context()
	if session.Token != "" {
		limited, cancel := context.WithTimeout(ctx, session.Until.Sub(s.Now()))
		defer cancel()
		ctx = limited
	}
	request, err := backend{s.API, r, session.Token}.request(ctx, call{
		path: []string{"events"}, query: url.Values{"since": {"now"}}, accept: "text/event-stream",
	})
	if err != nil {
		s.complain(r, err)
		return
	}
	if last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
		request.Header.Set("Last-Event-ID", strconv.FormatInt(last, 10))
	}
	s.API.ServeHTTP(w, request)
}
