package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// settingsView is the content of the page with the settings of a site.
type settingsView struct {
	*pageBuffer

	Name   string
	Was    string // a digest of the settings that the page is about
	Labels string // KEY=VALUE, one on each line
	Limits []setLimit
	Closed bool // it is archived, or is to be
	Error  string
	Lost   bool // the labels that were entered are too long to be shown again
}

// setLimit is a limit of a site as the form has it: "" where the server's holds.
type setLimit struct{ Name, Label, Value string }

// settings shows the settings of a site as a form, and sets what the form has.
func (v *visit) settings() (view, error) {
	if !v.may("purser:manage_sites") {
		return view{}, &refusal{Status: http.StatusForbidden, Message: "You have no right to change the settings of sites."}
	}
	var site wire.Site
	if err := v.api.sites().Get(v.Context(), &site, nil, v.siteName()); err != nil {
		return view{}, err
	}
	page, err := settingsOf(site)
	if err != nil {
		return view{}, err
	}
	if page.pageBuffer = v.pageBuffer; v.Method != http.MethodPost {
		return page.view(0), nil
	}
	if v.field("was") != page.Was {
		page.Error = "Somebody has changed the settings since this page was shown. Below are the present ones."
		return page.view(http.StatusConflict), nil
	}
	return v.setSite(site, page)
}

// maxEntered bounds the labels that a refused form keeps, in bytes that they take in a page.
const maxEntered = 100_000

// setSite sets what the form of a page has. If that is refused, the page says why, and keeps what was entered.
func (v *visit) setSite(site wire.Site, page settingsView) (view, error) {
	entered := strings.ReplaceAll(v.PostForm.Get("labels"), "\r\n", "\n")
	page.Closed = v.field("archived") != ""
	if _, size := (extent{maxForm, maxEntered}).measure(entered); size < maxEntered {
		page.Labels = entered
	} else {
		page.Lost = true
	}
	limits := map[string]any{}
	for i, l := range page.Limits {
		limit := v.field(l.Name)
		page.Limits[i].Value = limit
		if number, err := strconv.ParseInt(limit, 10, 64); err == nil {
			limits[l.Name] = number
		} else if limit != "" {
			limits[l.Name] = limit // which the API refuses
		}
	}
	labels, mistake := labelsIn(entered, site.Labels)
	if mistake != "" {
		page.Error = mistake
		return page.view(http.StatusBadRequest), nil
	}
	body, err := json.Marshal(map[string]any{"labels": labels, "limits": limits, "archived": page.Closed})
	if err != nil {
		return view{}, fmt.Errorf("write the settings: %w", err)
	}
	api := v.api.sites()
	_, err = api.Do(v.Context(), client.Request{
		Method: http.MethodPut, Path: []string{site.Name}, Body: body, JSON: true,
	})
	if refusedWith(err, http.StatusBadRequest) {
		page.Error = err.Error()
		return page.view(http.StatusBadRequest), nil
	}
	if err != nil {
		return view{}, err
	}
	v.goTo(v.Base.Link("settings"))
	return view{}, nil
}

// view returns the page with a status, 0 for that of success.
func (p settingsView) view(status int) view {
	return view{template: "settings", status: status, Title: "Settings of " + p.Name, Section: "settings", Data: p}
}

// settingsOf returns the page with the settings of a site.
func settingsOf(site wire.Site) (settingsView, error) {
	shown := func(limit *int64) string {
		if limit == nil {
			return ""
		}
		return strconv.FormatInt(*limit, 10)
	}
	text, err := json.Marshal([]any{site.Labels, site.Limits, site.Archived})
	if err != nil {
		return settingsView{}, fmt.Errorf("write the settings: %w", err)
	}
	sum := sha256.Sum256(text)
	return settingsView{
		Name: site.Name, Was: hex.EncodeToString(sum[:]), Labels: strings.Join(labelLines(site.Labels), "\n"),
		Limits: []setLimit{
			{"documents", "Documents", shown(site.Limits.Documents)},
			{"changes", "Changes a minute, of each server", shown(site.Limits.Changes)},
			{"keep", "Revisions to keep, besides tagged ones", shown(site.Limits.Keep)},
		},
		Closed: site.Archived,
	}, nil
}

// labelLines returns labels as KEY=VALUE, sorted.
func labelLines(labels map[string]string) []string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		lines = append(lines, key+"="+labels[key])
	}
	return lines
}

// labelsIn reads labels from the lines of a form, or says which mistake they have. A line that shows a label as it was
// is that label: pages write some characters in another way.
func labelsIn(text string, was map[string]string) (labels map[string]string, mistake string) {
	shown := map[string]string{}
	labels = map[string]string{}
	for _, line := range labelLines(was) {
		shown[words.Printable(line)] = line
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if original, ok := shown[line]; ok {
			line = original
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			return nil, strconv.Quote(words.Excerpt(line)) + " is no label: write KEY=VALUE, one on each line."
		}
		key = strings.TrimSpace(key)
		if _, twice := labels[key]; twice {
			return nil, "There are two labels " + strconv.Quote(words.Excerpt(key)) + "."
		}
		labels[key] = value
	}
	return labels, ""
}
