package web_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"purser/web"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := broken(t)
	b := s.browser(t)
	const target = "/ui/revisions/2?a=b"
	to := b.get(t, target).is(t, http.StatusSeeOther).Header.Get("Location")
	if to != "/ui/sign-in?next="+url.QueryEscape(target) {
		t.Fatalf("sent to %q", to)
	}
	page := b.get(t, to).is(t, http.StatusOK)
	wellFormed(t, to, page)
	for token, status := range map[string]int{"wrong": http.StatusUnauthorized, "": http.StatusBadRequest, "a b": http.StatusBadRequest} {
		got := b.send(t, http.MethodPost, "/ui/sign-in", url.Values{"token": {token}, "next": {target}}).is(t, status)
		if len(got.Cookies()) > 0 {
			t.Errorf("token %q: cookies %v", token, got.Cookies())
		}
		wellFormed(t, to, got)
	}
	got := b.send(t, http.MethodPost, "/ui/sign-in", url.Values{"token": {" admin\n"}, "next": {target}}).is(t, http.StatusSeeOther)
	if at := got.Header.Get("Location"); at != target {
		t.Errorf("sent to %q", at)
	}
	cookies := got.Cookies()
	if len(cookies) < 2 {
		t.Fatalf("cookies %v", cookies)
	}
	cookie := cookies[0]
	for _, old := range cookies[1:] { // of a longer session that the browser may still have
		if old.Value != "" || old.MaxAge >= 0 {
			t.Errorf("cookie %v is not taken away", old)
		}
	}
	if !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" ||
		cookie.Expires.After(s.clock.Now().Add(12*time.Hour)) || strings.Contains(cookie.Value, "admin") {
		t.Errorf("cookie %v", cookie)
	}
	b.get(t, target).is(t, http.StatusOK).shows(t, "Ada", "Sign out")
	b.get(t, "/ui/sign-in").is(t, http.StatusSeeOther) // the user is signed in

	b.send(t, http.MethodPost, "/ui/sign-out", url.Values{}).is(t, http.StatusSeeOther)
	b.get(t, target).is(t, http.StatusSeeOther)
}

func TestSignIn_next(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for next, want := range map[string]string{
		"/ui/search?q=a":         "/ui/search?q=a",
		"":                       "/ui/",
		"https://evil.example/":  "/ui/",
		"//evil.example/ui/":     "/ui/",
		`/\evil.example/ui/`:     "/ui/",
		"/api/v1.0/revisions":    "/ui/",
		"javascript:evil()":      "/ui/",
		"/ui/\r\nSet-Cookie: a":  "/ui/",
		"/ui/sign-out":           "/ui/",
		"https:/ui/":             "/ui/",
		"/ui/revisions/tag:a%2F": "/ui/revisions/tag:a%2F",

		"/ui/../..//evil":             "/ui/",
		"/ui/..//evil.example/ui/":    "/ui/",
		"/ui/%2e%2e/evil":             "/ui/",
		"/ui/%2E./%2e%2E//evil/ui/":   "/ui/",
		"/ui/..%2f..%2fevil":          "/ui/",
		"/ui/./x/../sign-out":         "/ui/",
		"/ui/%73ign-out":              "/ui/",
		"///evil.example/ui/":         "/ui/",
		`/ui/\..\evil`:                "/ui/",
		`/\\evil.example/ui/`:         "/ui/",
		"/ui/\x00":                    "/ui/",
		"/ui/\x1b[31m":                "/ui/",
		"/ui/%0d%0aSet-Cookie:%20a":   "/ui/%0d%0aSet-Cookie:%20a",
		"/ui//evil.example":           "/ui/evil.example",
		"/ui/revisions/../search?q=a": "/ui/search?q=a",
		"/ui/%252e%252e/search":       "/ui/%252e%252e/search",
		"/ui/search?q=\u202e&a=../..": "/ui/search?a=..%2F..&q=%E2%80%AE",
		"/ui/search#\u202e":           "/ui/search#%E2%80%AE",
		"ui/search":                   "/ui/",

		"/sites/atl1/ui/":                     "/sites/atl1/ui/",
		"/sites/atl1/ui/search?q=a":           "/sites/atl1/ui/search?q=a",
		"/sites/atl1/ui/revisions/tag:a%2F":   "/sites/atl1/ui/revisions/tag:a%2F",
		"/sites/atl1/ui/../../bos1/ui/search": "/sites/bos1/ui/search",
		"/sites/atl1/ui/sign-out":             "/ui/",
		"/sites/atl1/ui/%73ign-out":           "/ui/",
		"/sites/atl1/api/v1.0/revisions":      "/ui/",
		"/sites/atl1/ui/../api/v1.0/ui/":      "/ui/",
		"/sites/atl1/ui/..%2fapi/ui/":         "/ui/",
		"/sites/../ui/search":                 "/ui/search",
		"/sites/%2e%2e/evil/ui/":              "/ui/",
		"/sites/a%2f..%2fb/ui/":               "/ui/",
		"/sites/-/ui/":                        "/ui/",
		"/sites//ui/":                         "/ui/",
		"//sites/atl1/ui/":                    "/ui/",
		"/x/sites/atl1/ui/":                   "/ui/",
		"?next=/ui/":                          "/ui/",
		"/uix/":                               "/ui/",
	} {
		form := url.Values{"token": {"admin"}, "next": {next}}
		got := s.browser(t).send(t, http.MethodPost, "/ui/sign-in", form).is(t, http.StatusSeeOther)
		if at := got.Header.Get("Location"); at != want {
			t.Errorf("next=%q leads to %q, want %q", next, at, want)
		}
	}
}

// Without authentication, no page shows anything under a name that is not the server's.
func TestPages_hosts(t *testing.T) {
	t.Parallel()
	s := broken(t, anonymous)
	for _, target := range []string{"/ui/", "/ui/revisions/1", "/ui/sign-in", "/ui/revisions/1/document.yaml?schema=acme/Host/v1&layer=site&name=cmp-1"} {
		for host, status := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "localhost:9000": http.StatusOK} {
			if status == http.StatusOK && target == "/ui/sign-in" {
				status = http.StatusSeeOther
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
			r.Host = host
			w := httptest.NewRecorder()
			if s.pages.ServeHTTP(w, r); w.Code != status || status == http.StatusMisdirectedRequest && !strings.Contains(w.Body.String(), "--public-url") {
				t.Errorf("%s at %s: status %d\n%s", target, host, w.Code, w.Body)
			}
		}
	}
}

// TestSession_ends checks that a session ends after its time, and when the API no longer accepts its token.
func TestSession_ends(t *testing.T) {
	t.Parallel()
	s := broken(t)
	b := s.as(t, "admin")
	s.clock.add(12*time.Hour - time.Minute)
	b.get(t, "/ui/").is(t, http.StatusOK)
	s.clock.add(time.Minute)
	b.get(t, "/ui/").is(t, http.StatusSeeOther)
}

// TestSession_tampered changes each part of a cookie in turn, and brings one that another key has sealed.
func TestSession_tampered(t *testing.T) {
	t.Parallel()
	s := broken(t)
	got := s.browser(t).send(t, http.MethodPost, "/ui/sign-in", url.Values{"token": {"admin"}})
	cookie := got.Cookies()[0]
	with := func(value string) int {
		return s.browser(t).get(t, "/ui/", "Cookie", cookie.Name+"="+value).StatusCode
	}
	if with(cookie.Value) != http.StatusOK {
		t.Fatal("the cookie itself does not count")
	}
	for i := range cookie.Value {
		changed := []byte(cookie.Value)
		if changed[i] = 'A'; cookie.Value[i] == 'A' {
			changed[i] = 'Q'
		}
		if i == len(changed)-1 {
			break // the last character may hold unused bits
		}
		if code := with(string(changed)); code != http.StatusSeeOther {
			t.Fatalf("status %d with another character %d", code, i)
		}
	}
	for _, value := range []string{"", "x", cookie.Value[:20], cookie.Value + "AA", strings.Repeat("A", 5000)} {
		if code := with(value); code != http.StatusSeeOther {
			t.Errorf("status %d with %q", code, value)
		}
	}
	other, err := web.New(web.Config{
		API: s.api, Key: bytes.Repeat([]byte("x"), 32), Now: s.clock.Now, Log: slog.New(slog.DiscardHandler),
		Observe: ignore,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.pages = other
	if code := with(cookie.Value); code != http.StatusSeeOther {
		t.Errorf("status %d with a cookie of another key", code)
	}
}

func TestNew_shortKey(t *testing.T) {
	t.Parallel()
	if _, err := web.New(web.Config{Key: []byte("short"), Now: time.Now}); err == nil {
		t.Error("a short key is accepted")
	}
}

// TestForged sends requests that another site's page could make a browser send.
func TestForged(t *testing.T) {
	t.Parallel()
	s := broken(t)
	b := s.as(t, "admin")
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
	} {
		for _, target := range []string{"/ui/sign-out", "/ui/sign-in"} {
			got := b.send(t, http.MethodPost, target, url.Values{"token": {"reader"}}, header...).is(t, http.StatusForbidden)
			if len(got.Cookies()) > 0 {
				t.Errorf("%v: cookies %v", header, got.Cookies())
			}
		}
	}
	b.get(t, "/ui/").is(t, http.StatusOK).shows(t, "Ada")

	// A link on another site brings no cookie; the browser asks again from here.
	page := s.browser(t).get(t, "/ui/search?q=a", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate").is(t, http.StatusOK)
	wellFormed(t, "bounce", page)
	if !strings.Contains(page.text, `http-equiv="refresh" content="0"`) {
		t.Errorf("the page does not ask again:\n%s", page.text)
	}
}

// TestHeaders checks the security headers of every answer.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := broken(t)
	b := s.as(t, "admin")
	for target, caching := range map[string]string{
		"/ui/": "no-store", "/ui/nothing": "no-store", "/ui/sign-in": "no-store", "/ui/static/app.css": "no-store",
		"/ui/revisions/2/graph.svg": "no-store", "/ui/revisions/2/document.yaml?schema=acme/Host/v1&name=cmp-1": "no-store",
	} {
		got := b.get(t, target)
		for name, want := range map[string]string{
			"Content-Security-Policy": "frame-ancestors 'none'", "Referrer-Policy": "same-origin",
			"X-Content-Type-Options": "nosniff", "Cache-Control": caching,
		} {
			if has := got.Header.Get(name); !strings.Contains(has, want) {
				t.Errorf("%s: %s: %q, want %q", target, name, has, want)
			}
		}
		if policy := got.Header.Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %s", target, policy)
		}
	}
}

// A user can sign in with a token that is too long for one cookie.
func TestSession_long(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("t", 16<<10)
	s := newSite(t, withUser(long))
	b := s.as(t, long)
	b.get(t, "/ui/").is(t, http.StatusOK).shows(t, "Long")
	b.send(t, http.MethodPost, "/ui/sign-in", url.Values{"token": {"admin"}}).is(t, http.StatusSeeOther) // a shorter one
	b.get(t, "/ui/").is(t, http.StatusOK).shows(t, "Ada")
}
