package web

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purser/internal/words"
)

// manySites is an API with so many sites, in each of which a dry run takes a time and says something else.
type manySites struct {
	sites int
	takes time.Duration
	says  func(site string) string
	size  int    // of each answer, in bytes; 0 for as many as it needs
	wide  string // in the labels of sites, and the names of buckets that they follow
}

func (m manySites) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	site, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/sites/"), "/api/v1.0/")
	switch {
	case r.URL.Path == "/sites":
		var found []string
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		for i := range min(m.sites, max(limit, 3000)) {
			found = append(found, fmt.Sprintf(`{"name":"s%04d%s","status":"success","labels":{"a":"b%s"},"sources":{"%[3]s":{"site":"shared",
				"revision":1,"bucket":"%[3]s"}}}`, i, strings.Repeat("-", 58), m.wide))
		}
		next := "null"
		if m.wide != "" {
			next = `"more"`
		}
		fmt.Fprintf(w, `{"results":[%s],"next":%s}`, strings.Join(found, ","), next)
	case r.Method == http.MethodPut:
		time.Sleep(m.takes) // a fake sleep of synctest
		w.Header().Set("ETag", `"4-aa"`)
		fmt.Fprintf(w, `{"changed":true,"status":"success","weakened":["%s"]}%s`, m.says(site), strings.Repeat(" ", m.size))
	case strings.HasPrefix(path, "revisions/"):
		fmt.Fprint(w, `{"id":17,"stamp":"ab"}`)
	default:
		fmt.Fprint(w, `{"user":{"id":"u"},"rules":[]}`)
	}
}

// reads is a browser, and what it has got of a page when.
type reads struct {
	*httptest.ResponseRecorder

	began time.Time
	got   []time.Duration
	fails bool // it reads nothing
}

func (r *reads) Write(text []byte) (int, error) {
	if r.fails {
		return 0, context.DeadlineExceeded
	}
	if len(text) > 0 {
		r.got = append(r.got, time.Since(r.began).Round(time.Second))
	}
	return r.ResponseRecorder.Write(text)
}

// server returns the pages of the API.
func (m manySites) server(t *testing.T, observe func(page, method string, status int, took time.Duration)) http.Handler {
	t.Helper()
	handler, err := New(Config{
		API: m, Key: bytes.Repeat([]byte("k"), 32), Now: time.Now, Log: slog.New(slog.DiscardHandler), Observe: observe,
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

func uncounted(string, string, int, time.Duration) {}

// pushed makes a dry run of many sites with a form, and returns the page and what was counted of requests.
func (m manySites) pushed(ctx context.Context, t *testing.T, browser *reads, form url.Values) (page string, counted []string) {
	t.Helper()
	var mutex sync.Mutex
	handler := m.server(t, func(page, _ string, _ int, _ time.Duration) {
		mutex.Lock()
		defer mutex.Unlock()
		counted = append(counted, page)
	})
	browser.ResponseRecorder, browser.began = httptest.NewRecorder(), time.Now()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/ui/fleet", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	handler.ServeHTTP(browser, r)
	return browser.Body.String(), counted
}

func plainForm() url.Values {
	return url.Values{"from": {"shared@latest/layers"}, "label": {"a=b"}}
}

// A page is sent while its push is made: first what it is about, and then a line each second. It is not counted among
// requests, whose times are measured.
func TestPush_streams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := manySites{sites: 40, takes: 2500 * time.Millisecond, says: func(string) string { return "x" }}
		browser := &reads{}
		page, counted := m.pushed(t.Context(), t, browser, plainForm())
		const seconds = 12 // 8 sites at the same time
		if len(browser.got) != 1+seconds+1 || browser.got[0] != 0 || browser.got[1] != time.Second || len(counted) > 0 {
			t.Errorf("parts after %v, counted %q", browser.got, counted)
		}
		for _, want := range []string{
			`<p class="progress">16 of 40 sites, `, "40 sites, 8 at a time, 13 s", "<strong>40</strong>", "</html>",
			"ValidationPolicies are weakened only if the form allows that",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q:\n%s", want, page)
			}
		}
	})
}

// When the server is stopping already, no site is begun.
func TestPush_stopping(t *testing.T) {
	t.Parallel()
	stopping := make(chan struct{})
	close(stopping)
	handler, err := New(Config{
		API: manySites{sites: 40, says: func(string) string { return "x" }}, Key: bytes.Repeat([]byte("k"), 32), Now: time.Now,
		Log: slog.New(slog.DiscardHandler), Observe: uncounted, Stopping: stopping,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/ui/fleet?"+plainForm().Encode(), http.NoBody)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), "The server is stopping: 40 sites not begun") || strings.Contains(w.Body.String(), "<strong>") {
		t.Errorf("%s", w.Body)
	}
}

// A browser that reads nothing any more is one that has disconnected.
func TestPush_unread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := manySites{sites: 40, takes: 2 * time.Second, says: func(string) string { return "x" }}
		browser := &reads{fails: true}
		if page, _ := m.pushed(t.Context(), t, browser, plainForm()); page != "" || time.Since(browser.began) > m.takes {
			t.Errorf("it took %v", time.Since(browser.began))
		}
	})
}

// Few pages are sent at the same time while they are made, and others wait for a minute.
func TestPush_places(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := manySites{sites: 8, takes: time.Hour, says: func(string) string { return "x" }}.server(t, uncounted)
		var group sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		send := func(method, target, address string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(plainForm().Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.RemoteAddr = address
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w
		}
		for i := range maxStreams {
			group.Go(func() { send(http.MethodPost, "/ui/fleet", fmt.Sprintf("10.0.0.%d:1", i)) })
		}
		synctest.Wait()
		if w := send(http.MethodPost, "/ui/fleet", "10.0.0.9:1"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "Others copy") {
			t.Errorf("status %d\n%s", w.Code, w.Body)
		}
		if w := send(http.MethodGet, "/ui/fleet", "10.0.0.1:1"); w.Code != http.StatusOK {
			t.Errorf("other pages wait too: status %d", w.Code)
		}
		cancel()
		group.Wait()
	})
}

// However many sites say something else, and however long it takes, a page has at most 150 KB, and counts all.
func TestPush_worst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wide := strings.Repeat("\U000E0001", 900)
		for name, c := range map[string]struct {
			says func(site string) string
			form url.Values
			want string
		}{
			"all differ": {
				func(site string) string { return site[2:5] + wide }, plainForm(), "more groups of sites",
			},
			"all are the same": {
				func(string) string { return wide }, plainForm(), "<strong>3,000</strong>",
			},
			"a long form": {
				func(site string) string { return site[2:5] + wide },
				url.Values{"from": {"shared@latest/" + strings.Repeat("\U000E0001", 255)}, "label": {"a=b"}, "message": {strings.Repeat("'", 3300)}},
				"more groups of sites",
			},
		} {
			m := manySites{sites: 3000, takes: 30 * time.Second, says: c.says}
			page, _ := m.pushed(t.Context(), t, &reads{}, c.form)
			if len(page) > maxPage || !strings.Contains(page, c.want) || !strings.Contains(page, "</html>") {
				t.Errorf("%s: %d bytes\n%.3000s", name, len(page), page)
			}
			if lines := strings.Count(page, `class="progress"`); lines > maxProgress || lines < 100 {
				t.Errorf("%s: %d lines about the progress", name, lines)
			}
			if words.Printable(page) != page {
				t.Errorf("%s: not printable", name)
			}
			t.Logf("%s: %d bytes", name, len(page))
		}
	})
}

// The form with its followers, and the preview of one site, have at most 150 KB too.
func TestFleet_worst(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("\U000E0001", 255)
	handler := manySites{sites: 100, wide: wide}.server(t, uncounted)
	for name, query := range map[string]url.Values{
		"form":         {"from": {"shared@latest"}},
		"a long form":  {"from": {"shared@latest"}, "message": {strings.Repeat("'", 4400)}},
		"a later page": {"from": {"shared@latest/" + wide}, "label": {strings.Repeat("+", 3000)}, "offset": {"100"}},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ui/fleet?"+query.Encode(), http.NoBody))
		if size := w.Body.Len(); w.Code != http.StatusOK || size > maxPage || !strings.Contains(w.Body.String(), "After these") {
			t.Errorf("%s: status %d, %d bytes", name, w.Code, size)
		}
	}

	document := `{"change":"modified","schema":"acme/` + strings.Repeat("H", 240) + `/v1","layer":"` + wide + `","name":"` + wide + `","bucket":"` + wide + `"}`
	many := strings.Repeat(document+",", 300) + document
	row := strings.Repeat("&", 2000)
	diff := `"@@ -1,200 +1,0 @@\n` + strings.Repeat(`-`+row+`\n`, 200) + `"`
	difference := `{"diff":` + diff + `,"documents":[` + many + `]}`
	finding := `{"level":"error","validation":"v","document":` + document + `,"path":"` + wide + `","message":"` + row + `"}`
	preview := `{"changed":true,"status":"failure","documents":[` + many + `],"total":300,"findings":[` + strings.Repeat(finding+",", 300) + finding +
		`],"weakened":["` + row + `"],"rendered":{"count":300,"differences":[` + strings.Repeat(difference+",", 20) + difference + `],"unlisted":7}}`
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if w.Header().Set("ETag", `"4-aa"`); r.Method == http.MethodPut {
			fmt.Fprint(w, preview)
		} else {
			fmt.Fprint(w, `{"user":{"id":"u"},"rules":[]}`)
		}
	})
	handler, err := New(Config{
		API: api, Key: bytes.Repeat([]byte("k"), 32), Now: time.Now, Log: slog.New(slog.DiscardHandler), Observe: uncounted,
	})
	if err != nil {
		t.Fatal(err)
	}
	query := url.Values{"from": {"shared@1/" + wide}, "bucket": {wide}, "message": {strings.Repeat("'", 2500)}}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/sites/a/ui/copy?"+query.Encode(), http.NoBody))
	if w.Code != http.StatusOK || w.Body.Len() > maxPage || !strings.Contains(w.Body.String(), "more document") ||
		!strings.Contains(w.Body.String(), "more finding") || !strings.Contains(w.Body.String(), "more difference") {
		t.Errorf("status %d, %d bytes\n%.2000s", w.Code, w.Body.Len(), w.Body)
	}
	t.Logf("%d bytes", w.Body.Len())
}

// What a site says is bounded, and the page says which command reads more.
func TestPush_large(t *testing.T) {
	t.Parallel()
	m := manySites{sites: 2, says: func(string) string { return "x" }, size: maxPushAnswer}
	page, _ := m.pushed(t.Context(), t, &reads{}, plainForm())
	if !strings.Contains(page, "would be refused") || !strings.Contains(page, "What the site says has more than 8 MiB; the command purser fleet push reads more") {
		t.Errorf("%s", page)
	}
}

// Lines about progress come each second at first, and never after half a minute.
func TestPause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ already, want time.Duration }{
		{0, time.Second}, {40 * time.Second, time.Second}, {80 * time.Second, 2 * time.Second}, {time.Hour, 30 * time.Second},
	} {
		if got := pause(c.already); got != c.want {
			t.Errorf("%v after %v, want %v", got, c.already, c.want)
		}
	}
}
