package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// waivers returns all waivers of a revision, the newest first; none if the user may not see them.
func (v *visit) waivers(ctx context.Context, revision string) ([]wire.Waiver, error) {
	if v.Compat {
		return nil, nil
	}
	var found wire.List[wire.Waiver]
	if err := v.api.Get(ctx, &found, nil, "revisions", revision, "waivers"); err != nil {
		return nil, dropExpected(err)
	}
	slices.Reverse(found.Results)
	return found.Results, nil
}

// attempt is a form on the page of a validation that was refused; zero if none was.
type attempt struct {
	Form   string // the last step of its path
	Status int
	Error  string
	Text   string // that the user entered
	For    string
	Until  string
}

// Of returns the attempt if it was one with the named form, else the zero attempt.
func (a attempt) Of(form string) attempt {
	if a.Form != form {
		return attempt{}
	}
	return a
}

// Terms are the periods that a waiver may last.
func (a attempt) Terms() []term {
	return []term{
		{"PT1H", "an hour"}, {"P1D", "a day"}, {"P3D", "3 days"}, {"P7D", "7 days"}, {"P14D", "14 days"}, {"P30D", "30 days"},
	}
}

// Term is the chosen one.
func (a attempt) Term() string { return cmp.Or(a.For, "P1D") }

// term is a period, as the API reads it and in words.
type term struct{ Value, Text string }

// vote posts the user's approval of a revision, or a rejection.
func (v *visit) vote() (view, error) {
	status, message := v.field("status"), v.field("message")
	validator := map[string]string{"name": "purser-ui", "version": v.Version}
	result := map[string]any{"status": status, "validator": validator}
	if message != "" && status == success {
		validator["message"] = message
		if text, err := json.Marshal(validator); err != nil || len(text) > maxValidator {
			return v.refuse("result", &refusal{
				Status: http.StatusBadRequest, Message: "The message is too long to be shown with an approval.",
			})
		}
	} else if message != "" {
		result["errors"] = []map[string]string{{"message": message}}
	}
	return v.send("result", result, "validations", v.PathValue("name"))
}

// maxValidator is the size of the longest validator that the API shows, in bytes of JSON.
const maxValidator = 1000

// ask asks for a new result.
func (v *visit) ask() (view, error) {
	body := map[string]any{}
	if reason := v.field("message"); reason != "" {
		body["reason"] = reason
	}
	return v.send("request", body, "validations", v.PathValue("name"), "request")
}

// waive adds a waiver.
func (v *visit) waive() (view, error) {
	body := map[string]any{"validation": v.PathValue("name"), "reason": v.field("message")}
	if until := v.field("until"); until != "" {
		body["expiresAt"] = fullTime(until)
	} else {
		body["for"] = v.field("for")
	}
	return v.send("waivers", body, "waivers")
}

// endWaiver ends a waiver.
func (v *visit) endWaiver() (view, error) {
	return v.act(client.Request{
		Method: http.MethodDelete, Path: []string{"revisions", v.PathValue("revision"), "waivers", v.PathValue("id")},
		Query: v.about(),
	}, "waivers")
}

// send sends the form of a validation to the API, below the revision, and shows the validation. What the user can
// correct is shown beside the form.
func (v *visit) send(form string, body map[string]any, below ...string) (view, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return view{}, fmt.Errorf("write the body: %w", err)
	}
	_, err = v.api.Do(v.Context(), client.Request{
		Method: http.MethodPost, Path: append([]string{"revisions", v.PathValue("revision")}, below...),
		Query: v.about(), Body: text, JSON: true,
	})
	if refusedWith(err, http.StatusBadRequest, http.StatusForbidden, http.StatusConflict) {
		return v.refuse(form, err)
	}
	if err != nil {
		return view{}, err
	}
	v.goTo(v.Base.Link("revisions", v.PathValue("revision"), "validations", v.PathValue("name")))
	return view{}, nil
}

// refuse shows the page of a validation with an error beside a form, which keeps what the user has entered.
func (v *visit) refuse(form string, err error) (view, error) {
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return view{}, err
	}
	failed := attempt{
		Form: form, Status: refused.Status, Error: refused.Error(), For: v.field("for"), Until: v.field("until"),
	}
	if text := v.field("message"); words.Line(text) == text {
		failed.Text = text // else a form cannot hold it
	}
	shown, hidden := v.validationAfter(failed)
	if hidden != nil {
		return view{}, err
	}
	return shown, nil
}
