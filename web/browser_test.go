package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// screen is a real browser that shows the pages of a site.
type screen struct {
	*site

	ctx  context.Context
	url  string
	axe  string // the source text of axe-core, "" without it
	shot string // the directory for screenshots, "" for none
}

// newScreen starts Chromium; without one the test is skipped. PURSER_AXE names axe-core's axe.min.js, and
// PURSER_SCREENSHOTS a directory for pictures of the pages.
func newScreen(t *testing.T, s *site) *screen {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("there is no Chromium: apt-get install chromium")
	}
	server := httptest.NewServer(s.pages)
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-back-forward-cache", true), // chromedp loses pages that are kept
		chromedp.WindowSize(1280, 900),
		chromedp.WSURLReadTimeout(time.Minute))
	allocated, endBrowser := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(endBrowser)
	ctx, end := chromedp.NewContext(allocated)
	t.Cleanup(end)
	if err := chromedp.Run(ctx); err != nil { // the browser lives as long as this context
		t.Fatal(err)
	}
	b := &screen{site: s, ctx: ctx, url: server.URL, shot: os.Getenv("PURSER_SCREENSHOTS")}
	if file := os.Getenv("PURSER_AXE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b.axe = string(text)
	}
	b.complain(t)
	return b
}

// complain fails the test for every script error and everything that the content security policy blocks.
func (b *screen) complain(t *testing.T) {
	t.Helper()
	var mutex sync.Mutex
	var said []string
	chromedp.ListenTarget(b.ctx, func(event any) {
		mutex.Lock()
		defer mutex.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			said = append(said, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError {
				said = append(said, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	t.Cleanup(func() {
		mutex.Lock()
		defer mutex.Unlock()
		for _, text := range said {
			t.Errorf("the browser complains: %s", text)
		}
	})
	b.do(t, log.Enable(), runtime.Enable())
}

// do carries out actions.
func (b *screen) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	const patience = time.Minute // a busy machine is slow
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		var at, text string
		_ = chromedp.Run(b.ctx, chromedp.Location(&at), chromedp.Text("body", &text))
		t.Fatalf("%v, at %s:\n%s", err, at, text)
	}
}

// open goes to a page.
func (b *screen) open(t *testing.T, target string) {
	t.Helper()
	b.do(t, chromedp.Navigate(b.url+target), chromedp.WaitReady("#main"))
}

// wait waits until an expression holds.
func (b *screen) wait(t *testing.T, expression string) {
	t.Helper()
	const patience = time.Minute
	deadline := time.Now().Add(patience)
	for ok := false; !ok; { // a poll within the page would end with it, when another one is opened
		if err := chromedp.Run(b.ctx, chromedp.Evaluate("Boolean("+expression+")", &ok)); err != nil {
			ok = false
		}
		if !ok && time.Now().After(deadline) {
			b.do(t, chromedp.ActionFunc(func(context.Context) error {
				return fmt.Errorf("it does not come to hold that %s", expression)
			}))
		}
	}
}

// holds checks an expression.
func (b *screen) holds(t *testing.T, expression string) {
	t.Helper()
	var ok bool
	b.do(t, chromedp.Evaluate("Boolean("+expression+")", &ok))
	if !ok {
		t.Errorf("it does not hold that %s", expression)
	}
}

// keep keeps a picture of the page.
func (b *screen) keep(t *testing.T, name string) {
	t.Helper()
	if b.shot == "" {
		return
	}
	var picture []byte
	b.do(t, chromedp.CaptureScreenshot(&picture))
	if err := os.WriteFile(filepath.Join(b.shot, name+".png"), picture, 0o600); err != nil {
		t.Fatal(err)
	}
}

// accessible checks the page with axe-core: it finds nothing serious.
func (b *screen) accessible(t *testing.T, name string) {
	t.Helper()
	if b.axe == "" {
		return
	}
	var found string
	b.do(t, chromedp.Evaluate(b.axe+";undefined", nil), chromedp.Evaluate(
		`axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}).then((r) =>
			JSON.stringify(r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
			.map((v) => [v.id, v.help, v.nodes.map((n) => n.html + ' ' + n.failureSummary)])))`,
		&found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(found), &list); err != nil {
		t.Fatalf("%v: %s", err, found)
	}
	for _, violation := range list {
		t.Errorf("%s: %s", name, violation)
	}
}

const text = "document.body.innerText"

func has(part string) string { return text + ".includes(" + quoted(part) + ")" }

// TestBrowser_empty looks at the first page before there is anything.
func TestBrowser_empty(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	b := newScreen(t, newSite(t, anonymous))
	b.open(t, "/ui/")
	b.wait(t, has("purser push --server "+b.url+" site site.yaml"))
	b.holds(t, `document.querySelectorAll('button.copy').length === 2`)
	b.inAllSizes(t, "empty")
}

// TestBrowser walks through the pages as an operator does: from signing in and a failing verdict to the line that is
// wrong, and back to a revision that may be deployed.
func TestBrowser(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	s := broken(t)
	s.put(t, "services", doc("acme/Service/v1", "api", "cleartext",
		", substitutions: [{src: {schema: acme/Host/v1, name: cmp-1, path: .address}, dest: {path: .url, pattern: HOST}}]",
		"{url: 'http://HOST/'}")) // revision 4
	s.call(t, "POST", "revisions/2/validations/drydock-validation", "{status: success, validator: {name: d, version: '1'}}")
	b := newScreen(t, s)

	b.open(t, "/ui/")
	b.wait(t, has("Sign in"))
	b.keep(t, "sign-in")
	b.accessible(t, "sign-in")
	b.do(t, chromedp.SendKeys("#token", "admin"+kb.Enter), chromedp.WaitVisible("#verdict"))
	b.holds(t, has("Revision 4 may not be deployed"))

	b.do(t, chromedp.Click(`//a[text()="Show the line"]`), chromedp.WaitVisible("#marked"))
	b.holds(t, `document.querySelector('#marked code').textContent.includes('rack: 99')`)
	b.holds(t, `document.querySelector('#marked').getBoundingClientRect().top < innerHeight`)
	b.keep(t, "document")
	b.accessible(t, "document")

	b.looks(t)
	b.keys(t)
	b.acts(t)
}

// TestBrowser_judging waives, approves and asks again, on pages with long names and reasons.
func TestBrowser_judging(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	s := tried(t, anonymous)
	reason := strings.Repeat("the_lab_is_closed_until_Monday;", 20) + " & <b>more</b> words"
	const page, hosts = "/ui/revisions/2", "/ui/revisions/2/validations/hosts-validation"
	s.call(t, "POST", "revisions/2/validations/drydock-validation", "{status: success, inputs: {schemas: [acme/Host/*]}, url: 'https://ci.example/1', "+
		"validator: {name: d, version: '1'}}")
	if status, text := s.claim(t, "hosts-validation"); status != 201 {
		t.Fatalf("%s", text)
	}
	b := newScreen(t, s)
	b.open(t, hosts)
	b.holds(t, has("claimed by cmp-7<b>"))
	b.do(t, chromedp.Click(`//summary[text()="Waive"]`), chromedp.SendKeys(`form[action$="/waivers"] [name=message]`, reason))
	b.inAllSizes(t, "waive")
	b.do(t, chromedp.Click(`//button[text()="Waive"]`))
	b.wait(t, has("waived by"))
	b.inAllSizes(t, "waived")
	const drydock = "/ui/revisions/2/validations/drydock-validation"
	b.open(t, drydock)
	b.do(t, chromedp.Click(`//summary[text()="Approve or reject"]`), chromedp.SendKeys(`form[action$="/result"] [name=message]`, "looked at it"),
		chromedp.Click(`//button[text()="Approve"]`))
	b.wait(t, has("purser-ui"))
	b.do(t, chromedp.Click(`//summary[text()="Ask again"]`), chromedp.Click(`//button[text()="Ask again"]`))
	b.wait(t, has("asked for again"))
	b.inAllSizes(t, "asked")
	s.call(t, "POST", "revisions/2/waivers", "{validation: review-validation, for: PT1H, reason: the reviewers are away}")
	for name, target := range map[string]string{
		"judged": page, "judged-overview": "/ui/", "judged-revisions": "/ui/revisions", "judged-compare": "/ui/compare?from=1&to=2",
		"judged-rollback": page + "/rollback",
	} {
		b.open(t, target)
		b.wait(t, has("2 waived")+"||"+has("because of 2 waivers"))
		b.inAllSizes(t, name)
	}
	b.open(t, page)
	b.do(t, chromedp.Click(`//button[text()="End"]`))
	b.wait(t, has("ended now"))
	b.holds(t, has("Revision 2 may not be deployed"))
}

// TestBrowser_sites goes from the list of sites to one with a long name, archives it and opens it again.
func TestBrowser_sites(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	s := fleet(t, anonymous)
	name := "a" + strings.Repeat("0123456789.", 5) + "z"
	s.call(t, "PUT", "/sites/"+name, "labels: {region: us-east, "+strings.Repeat("k", 63)+": '"+strings.Repeat("long_value", 25)+"'}")
	s.call(t, "PUT", "/sites/"+name+"/api/v1.0/buckets/control/documents", hostSchema)
	b := newScreen(t, s)
	b.open(t, "/ui/")
	b.holds(t, has("atl1"))
	b.inAllSizes(t, "sites")
	b.do(t, chromedp.Click(`//a[bdi="`+name+`"]`))
	b.wait(t, has("Revision 1 may be deployed"))
	b.inAllSizes(t, "site")
	b.do(t, chromedp.Click(`//a[text()="Settings of the site"]`))
	b.wait(t, has("Labels, as KEY=VALUE"))
	b.inAllSizes(t, "settings")
	b.do(t, chromedp.Click(`[name=archived]`), chromedp.Click(`button.main`))
	b.wait(t, has("is archived: it can be read"))
	b.inAllSizes(t, "archived")
	b.do(t, chromedp.SetValue(`[name=keep]`, "1000"), chromedp.Click(`[name=archived]`), chromedp.Click(`button.main`))
	b.wait(t, "!"+has("is archived: it can be read"))
	b.do(t, chromedp.Click(`//nav//a[text()="Overview"]`))
	b.wait(t, has("Revision 1 may be deployed"))
	b.wait(t, "stream && stream.readyState === EventSource.OPEN")
	s.call(t, "PUT", "/sites/"+name+"/api/v1.0/buckets/control/documents", hostSchema+layers)
	b.wait(t, has("Revision 2 may be deployed"))
}

// TestBrowser_fleet copies a bucket to many sites: the form, what each would say, one site's difference, the change, and
// the sites that follow.
func TestBrowser_fleet(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	s := sharing(t, anonymous)
	name := "a" + strings.Repeat("0123456789.", 5) + "z"
	s.call(t, "PUT", "/sites/"+name, "labels: {type: foundry, wave: '4'}")
	b := newScreen(t, s)
	b.open(t, "/ui/")
	b.do(t, chromedp.Click(`//nav//a[text()="Fleet"]`))
	b.wait(t, has("Copy a bucket to many sites"))
	b.do(t, chromedp.SendKeys(`[name=from]`, "shared@latest/layers"), chromedp.SendKeys(`[name=label]`, "type=foundry"),
		chromedp.SendKeys(`[name=waves]`, "wave"))
	b.inAllSizes(t, "fleet-form")
	b.do(t, chromedp.Click(`button.main`))
	b.wait(t, has("Copy to 3 sites"))
	b.holds(t, "!"+has("Stop")+" && !"+has("This page is written"))
	b.inAllSizes(t, "fleet-dry-run")
	b.do(t, chromedp.Click(`//a[bdi="bad1"]`))
	b.wait(t, has("What changes in rendered documents"))
	b.inAllSizes(t, "fleet-copy")
	b.open(t, "/ui/fleet?from=shared@latest/layers&label=type%3Dfoundry&waves=wave&failures=2")
	b.do(t, chromedp.Click(`button.main`))
	b.wait(t, has("Copy to 3 sites"))
	begun, wait := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(wait) })
	t.Cleanup(goOn)
	s.onPut(func() {
		close(begun)
		<-wait
	})
	b.do(t, chromedp.Evaluate(`document.querySelector('form.act button').click()`, nil))
	<-begun
	b.wait(t, has("Stop")+" && "+has("This page is written")+" && "+has("0 of 4 sites"))
	b.inAllSizes(t, "fleet-running")
	goOn()
	b.wait(t, has("changed, and became success"))
	b.inAllSizes(t, "fleet-done")
	b.do(t, chromedp.Click(`//a[span="Back to the form"]`))
	b.wait(t, has("Sites that follow shared"))
	b.inAllSizes(t, "fleet-followers")
	b.open(t, "/ui/?follows=shared")
	b.wait(t, has("up to date"))
	b.inAllSizes(t, "fleet-list")
}

// looks goes to the other pages.
func (b *screen) looks(t *testing.T) {
	t.Helper()
	const api = "/ui/revisions/2/document?schema=acme/Host/v1&layer=site&name=cmp-1"
	for name, c := range map[string]struct{ target, holds string }{
		"overview":   {"/ui/", has("Revision 4 may not be deployed")},
		"wrong":      {"/ui/revisions/4/document?schema=acme/Host/v1&layer=site&name=cmp-2&path=.data.rack", has("rack: 99")},
		"rollback":   {"/ui/revisions/2/rollback", has("Roll back to revision 2?")},
		"missing":    {"/ui/revisions/4/validations/drydock-validation", has("missing")},
		"own":        {"/ui/revisions/4/validations/deckhand-schema-validation", has("cmp-2")},
		"upload":     {"/ui/upload", has("File with documents")},
		"findings":   {"/ui/revisions/4/findings", has("by document")},
		"compare":    {"/ui/compare?from=2&to=3", has("rack: 99")},
		"split":      {"/ui/compare?from=2&to=3&view=split", `document.querySelectorAll('.diff .removed, .diff .added').length === 2`},
		"explained":  {api + "&as=explained", has(".rack")},
		"history":    {api + "&as=history", has("Revision 2")},
		"neighbours": {api + "&as=graph", has("Depends on")},
		"revision":   {"/ui/revisions/2", has("Revision 2 may be deployed")},
		"revisions":  {"/ui/revisions", has("Revisions")},
		"search":     {"/ui/search?q=rack", has("cmp-1")},
		"schemas":    {"/ui/revisions/3/schemas", has("acme/Host/v1")},
		"schema":     {"/ui/revisions/3/schemas/acme/Host/v1", has("rack")},
		"audit":      {"/ui/audit", has("pushed bucket site")},
		"validation": {"/ui/revisions/2/validations/drydock-validation", has("success")},
		"graph":      {"/ui/revisions/4/graph", `document.querySelectorAll('svg#picture a[href]').length === 6`},
	} {
		b.open(t, c.target)
		b.wait(t, c.holds)
		b.inAllSizes(t, name)
	}
	b.open(t, "/ui/revisions/4/graph")
	var before, after float64
	const width = `document.getElementById('picture').getBoundingClientRect().width`
	b.wait(t, `document.getElementById('picture').getBoundingClientRect().width > 50`)
	b.do(t, chromedp.Evaluate(width, &before), chromedp.Click(`//button[text()="Larger"]`), chromedp.Evaluate(width, &after))
	if after <= before {
		t.Errorf("the picture was %v wide, and is %v", before, after)
	}
	b.do(t, chromedp.Click(`//*[local-name()="a"][*[text()="cmp-1"]]`, chromedp.BySearch))
	b.wait(t, "location.search.includes('focus=acme%2FHost%2Fv1%2Fcmp-1%2Fsite')")
	b.wait(t, has("Around acme/Host/v1/cmp-1/site"))
	b.keep(t, "graph-focus")
	b.do(t, chromedp.Click(`//*[local-name()="a"][*[text()="cmp-1"]]`, chromedp.BySearch))
	b.wait(t, "location.pathname.endsWith('/document')")
	b.do(t, chromedp.Navigate(b.url+"/ui/revisions/4/graph.svg"), chromedp.WaitReady("svg a", chromedp.ByQuery))

	b.do(t, emulation.SetScriptExecutionDisabled(true))
	b.open(t, "/ui/")
	b.do(t, chromedp.WaitVisible("#verdict"), emulation.SetScriptExecutionDisabled(false))
}

// inAllSizes looks at the page that is open on screens of three widths, in light and dark: it fits, and is accessible.
func (b *screen) inAllSizes(t *testing.T, name string) {
	t.Helper()
	for _, width := range []int64{1440, 1024, 390} {
		b.do(t, emulation.SetDeviceMetricsOverride(width, 900, 1, width < 500))
		for mode, background := range map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"} {
			b.do(t, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}}))
			b.holds(t, `getComputedStyle(document.body).backgroundColor === `+quoted(background))
			if mode == "light" || width > 1400 { // the colours do not depend on the width
				b.accessible(t, fmt.Sprintf("%s, %d pixels, %s", name, width, mode))
			}
			b.keep(t, fmt.Sprintf("%s-%d-%s", name, width, mode))
		}
		b.holds(t, fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
		b.holds(t, `!document.querySelector('header') || document.querySelector('header').offsetHeight < 70`)
	}
	b.do(t, emulation.ClearDeviceMetricsOverride(), emulation.SetEmulatedMedia())
}

// keys uses the keyboard.
func (b *screen) keys(t *testing.T) {
	t.Helper()
	b.open(t, "/ui/revisions")
	b.do(t, chromedp.KeyEvent("j"), chromedp.KeyEvent("j"))
	b.holds(t, `document.querySelector('tr.selected a').textContent === '3'`)
	b.do(t, chromedp.KeyEvent("k"))
	b.holds(t, `document.querySelector('tr.selected a') === document.activeElement`)
	b.do(t, chromedp.KeyEvent("?"), chromedp.WaitVisible("dialog"))
	b.accessible(t, "keyboard")
	b.keep(t, "keyboard")
	b.do(t, chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	// As one event, whose text a page can prevent from being entered.
	b.do(t, input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/"), chromedp.KeyEvent("cmp-2"+kb.Enter), chromedp.WaitReady("#main"))
	b.wait(t, "location.search === '?q=cmp-2'")
	b.wait(t, has("cmp-2"))
}

// acts rolls back, and sees a change that somebody else makes.
func (b *screen) acts(t *testing.T) {
	t.Helper()
	b.open(t, "/ui/")
	b.do(t, chromedp.Click(`//a[text()="Roll back to revision 2"]`), chromedp.WaitVisible("button.main"))
	b.holds(t, has("Roll back to revision 2?"))
	b.keep(t, "rollback")
	b.accessible(t, "rollback")
	b.do(t, chromedp.Click("button.main"))
	b.wait(t, has("Revision 5 may be deployed"))
	b.do(t, chromedp.NavigateBack()) // without a question whether to send a form again
	b.wait(t, has("Roll back to revision 2?"))

	b.open(t, "/ui/")
	b.wait(t, "stream && stream.readyState === EventSource.OPEN")
	b.put(t, "site", host("cmp-1", 2), host("cmp-2", 98))
	b.wait(t, has("Revision 6 may not be deployed"))
	b.holds(t, has("98 is greater than the maximum of 40"))
	b.do(t, chromedp.Click(`//button[text()="Sign out"]`))
	b.wait(t, has("The token is the one"))
}
