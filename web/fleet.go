package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/events"
	"purser/internal/fleet"
	"purser/internal/words"
)

// pushForm is what the form of a push has. A link and the form that makes the change have it in their URLs, which hold
// all characters exactly.
type pushForm struct {
	From      string // SITE@REVISION or SITE@REVISION/BUCKET
	Bucket    string // in the sites; "" for that of the source
	Labels    []string
	Followers bool   // only sites that follow the source already
	Waves     string // a label
	Failures  string // after so many no other site is begun
	Deleted   string // documents in each site; "" for any number
	Success   bool   // only while the source is one
	Weakens   bool   // it may weaken policies
	Message   string
	Stamp     string // that the source must have; "" for any
}

// pushFormOf reads a form.
func pushFormOf(values url.Values) (f pushForm) {
	text := func(name, otherwise string) string {
		if !values.Has(name) {
			return otherwise
		}
		return strings.TrimSpace(values.Get(name))
	}
	f = pushForm{
		From: text("from", ""), Bucket: text("bucket", ""), Followers: text("followers", "") != "", Waves: text("waves", ""),
		Failures: text("failures", "1"), Deleted: text("deleted", "0"), Success: text("success", "") != "",
		Weakens: text("weaken", "") != "", Message: text("message", ""), Stamp: text("stamp", ""),
	}
	for _, label := range values["label"] {
		if label != "" && !slices.Contains(f.Labels, label) {
			f.Labels = append(f.Labels, label)
		}
	}
	return f
}

// values returns the form as parameters of a URL.
func (f pushForm) values() url.Values {
	values := url.Values{"failures": {f.Failures}, "deleted": {f.Deleted}}
	for name, value := range map[string]string{
		"from": f.From, "bucket": f.Bucket, "waves": f.Waves, "message": f.Message, "stamp": f.Stamp,
		"followers": ticked(f.Followers), "success": ticked(f.Success), "weaken": ticked(f.Weakens),
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(f.Labels) > 0 {
		values["label"] = f.Labels
	}
	return values
}

// ticked returns the value of a box that is ticked, "" for one that is not.
func ticked(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// fleetView is the content of the page from which a bucket is copied to many sites, with the sites that follow the
// source.
type fleetView struct {
	*pageBuffer
	pushForm
	siteList

	Error string
}

// fleet shows the form of a push.
func (v *visit) fleet() (view, error) {
	if err := v.overSites(); err != nil {
		return view{}, err
	}
	return v.fleetPage(pushFormOf(v.URL.Query()), nil)
}

// overSites refuses a page about many sites in the path of one, and to users who see one only.
func (v *visit) overSites() error {
	switch {
	case v.site != "":
		_, err := v.notFound()
		return err
	case !v.many:
		return &refusal{
			Status:  http.StatusNotFound,
			Message: "Buckets are copied from one site to others, and you may see one site only.",
		}
	}
	return nil
}

// fleetPage shows the form of a push, and why it was refused if it was.
func (v *visit) fleetPage(form pushForm, refused *refusal) (view, error) {
	page := fleetView{pageBuffer: v.pageBuffer, pushForm: form}
	shown := view{template: "fleet", Title: "Copy a bucket to many sites", Section: "fleet"}
	if refused != nil {
		page.Error, shown.status = refused.Error(), refused.Status
	}
	if site, _, _ := strings.Cut(form.From, "@"); site != "" {
		var err error
		pages := newPager(v.URL, sitesShown)
		pages.page, pages.query = v.Base.Link("fleet"), form.values()
		page.siteList, err = v.sitesOf(url.Values{"follows": {site}}, pages)
		if refusedWith(err, http.StatusBadRequest, http.StatusNotFound) {
			page.Follows = ""
			if page.Error == "" {
				page.Error = err.Error()
			}
		} else if err != nil {
			return view{}, err
		}
	}
	v.reserve(perByte * querySize(form.values()))
	shown.Data = page
	return shown, nil
}

// perByte is how many bytes of a page a byte of a field takes at most.
const perByte = 5

// maxPushForm bounds the total size of what the form of a push has, in bytes: it must have room in a URL afterwards.
const maxPushForm = maxQuery - 500

// tryPush makes the dry run of a push, and startPush the push.
func (v *visit) tryPush() (view, error)   { return v.push(true) }
func (v *visit) startPush() (view, error) { return v.push(false) }

// push shows what becomes of a push, or of its dry run, while it is made. What the user can correct is shown with the
// form.
func (v *visit) push(dryRun bool) (view, error) {
	if err := v.overSites(); err != nil {
		return view{}, err
	}
	form := pushFormOf(v.Form)
	if querySize(v.Form) > maxPushForm {
		return view{}, errForm
	}
	page, err := v.pushOf(form, dryRun)
	if refused, ok := errors.AsType[*refusal](err); ok && dropExpected(err) == nil {
		return v.fleetPage(form, refused)
	}
	if err != nil {
		return view{}, err
	}
	title := "Copy to " + page.Sites
	return view{template: "push", Title: title, Section: "fleet", Data: page, stream: true}, nil
}

// mistake returns the refusal of a form.
func mistake(format string, args ...any) *refusal {
	return &refusal{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

// pushOf returns the push that a form asks for, with its source and its sites.
func (v *visit) pushOf(form pushForm, dryRun bool) (*pushView, error) {
	push, err := form.push()
	if err != nil {
		return nil, err
	}
	push.DryRun, push.Server = dryRun, v.pushingClient()
	named, ok := fleet.ParseSource(form.From, form.Bucket)
	if push.Bucket = form.Bucket; push.Bucket == "" {
		push.Bucket = named.Bucket
	}
	switch {
	case !ok:
		return nil, mistake("The source must be SITE@REVISION, such as global@17, global@latest or global@tag:candidate, " +
			"or SITE@REVISION/BUCKET.")
	case push.Bucket == "":
		return nil, mistake("Name the bucket: in the source, as SITE@REVISION/BUCKET, or as that of the sites.")
	case len(form.Labels) == 0 && !form.Followers:
		return nil, mistake("Name the sites: by a label, as KEY=VALUE, or as those that follow the source already.")
	}
	if push.From, err = fleet.Source(v.Context(), v.api.Client, named); err != nil {
		return nil, refused(err)
	}
	if err := v.checkSource(form, push.From); err != nil {
		return nil, err
	}
	of := fleet.Selection{Bucket: push.Bucket, Labels: form.Labels, Follows: form.Followers, Waves: form.Waves}
	targets, err := of.Targets(v.Context(), v.api.Client, push.From)
	if err != nil {
		return nil, refused(err)
	}
	if len(targets) == 0 {
		return nil, noSites(form, push)
	}
	return v.pushPage(form, push, targets), nil
}

// noSites says that no site is selected.
func noSites(form pushForm, push fleet.Push) error {
	if form.Followers {
		return mistake("No site that you may see and that has the labels has a bucket %s that follows bucket %s of %s. "+
			"Copy it a first time to sites that are named by labels alone.", push.Bucket, push.From.Bucket, push.From.Site)
	}
	return mistake("No site that you may see, besides %s and archived ones, has the labels %s.", push.From.Site,
		words.List(form.Labels))
}

// checkSource refuses a source that is not the one which the form is about, or no success if the form asks for one.
func (v *visit) checkSource(form pushForm, from events.Upstream) error {
	if form.Stamp != "" && form.Stamp != from.Stamp {
		return &refusal{
			Status: http.StatusConflict,
			Message: fmt.Sprintf("Revision %d of %s is another one than that which the sites were asked about.",
				from.Revision, from.Site),
		}
	}
	if !form.Success {
		return nil
	}
	status, err := fleet.StatusOf(v.Context(), v.api.Client, from)
	if err != nil {
		return refused(err)
	}
	if status != success {
		return &refusal{
			Status: http.StatusConflict,
			Message: fmt.Sprintf("Revision %d of %s is a %s, and the form asks for a success.", from.Revision, from.Site,
				status),
		}
	}
	return nil
}

// push returns a push with the options of the form.
func (f pushForm) push() (push fleet.Push, err error) {
	push = fleet.Push{
		Promotes: f.Success, Weakens: f.Weakens, MaxDeleted: -1, Message: f.Message, Parallel: pushParallel,
		Advice: fleet.Advice{
			Weakened: "ValidationPolicies are weakened only if the form allows that",
			TooMany:  "the form says how many documents may be deleted in each site",
		},
	}
	if push.MaxFailures, err = strconv.Atoi(f.Failures); err != nil || push.MaxFailures < 1 {
		return push, mistake("The failures must be a whole number, at least 1.")
	}
	if f.Deleted == "" {
		return push, nil
	}
	if push.MaxDeleted, err = strconv.Atoi(f.Deleted); err != nil || push.MaxDeleted < 0 {
		return push, mistake("The documents that may be deleted must be a whole number, or empty for any number.")
	}
	return push, nil
}

// pushingClient returns the client of a push: it sends requests again that the server was too busy for.
func (v *visit) pushingClient() *client.Client {
	of := newClient(pushing{inProcess{v.API, v.Request, v.session.Token, maxPushAnswer}}, "", maxPushAnswer)
	of.Once = false
	return of
}
