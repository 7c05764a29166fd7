package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"purser/internal/document"
	"purser/internal/validations"
	"purser/internal/words"
)

// approveCommand and rejectCommand post a result in the name of the user, who may be one of several that a requirement
// asks for.
type (
	approveCommand struct{ vote }
	rejectCommand  struct{ vote }
)

// vote is what the results of users have in common.
type vote struct {
	remote
	output
	aboutResult

	Validation string `arg:"" help:"Name of the validation, such as network-review-validation." values:"validations"`
	Revision   string `arg:"" default:"latest" help:"Revision that you have looked at: 17, tag:NAME. The default, latest, may by now be another one." values:"revisions"`
	Message    string `help:"What you have looked at, or what is wrong." placeholder:"TEXT" short:"m"`
}

// Run posts a success.
func (c *approveCommand) Run(ctx context.Context, around *surroundings) error {
	return c.post(ctx, around, validations.Success, "approved")
}

// Run posts a failure.
func (c *rejectCommand) Run(ctx context.Context, around *surroundings) error {
	return c.post(ctx, around, validations.Failure, "rejected")
}

// maxShown is the size of the longest validator that a server shows, in bytes of JSON.
const maxShown = 1000

// post posts a result. The message of a failure is its error; a success has no errors, so its validator has it.
func (v *vote) post(ctx context.Context, around *surroundings, status validations.Status, done string) error {
	validator := document.Mapping{{Key: "name", Value: "purser"}, {Key: "version", Value: versionText()}}
	var messages []string
	switch {
	case v.Message == "":
	case status == validations.Failure:
		messages = []string{v.Message}
	default:
		validator = append(validator, document.Member{Key: "message", Value: v.Message})
		if more := len(document.AppendJSON(nil, validator)) - maxShown; more > 0 {
			return fmt.Errorf("--message is too long to be shown with an approval, by %s", words.Count(more, "byte"))
		}
	}
	body, err := v.body(ctx, status.String(), validator, messages)
	if err != nil {
		return err
	}
	return postResult(ctx, around, v.remote, v.output, posting{
		validation: v.Validation, revision: v.Revision, stamp: v.Stamp, body: body, done: done,
	})
}

// aboutResult are the flags about what a result depends on.
type aboutResult struct {
	Inputs string `help:"Documents that the result depends on; while they are the same, a success counts for later revisions, too: 'schemas=drydock/*,acme/*;layers=site;labels=role:network', or a mapping in YAML." placeholder:"SELECTION"`
	URL    string `help:"Page about the result, such as the log of a job." name:"url" placeholder:"URL"`
	Stamp  string `help:"Stamp of the validated revision, which -o json of status prints; the result is refused if another revision has this number by now." placeholder:"STAMP"`
}

// body returns the body of a result.
func (a aboutResult) body(ctx context.Context, status string, validator document.Mapping, messages []string) (
	[]byte, error,
) {
	errs := []any{}
	for _, message := range messages {
		errs = append(errs, document.Mapping{{Key: "message", Value: message}})
	}
	result := document.Mapping{
		{Key: "status", Value: status}, {Key: "errors", Value: errs}, {Key: "validator", Value: validator},
	}
	if a.Inputs != "" {
		inputs, err := selectionOf(ctx, a.Inputs)
		if err != nil {
			return nil, err
		}
		result = append(result, document.Member{Key: "inputs", Value: inputs})
	}
	if a.URL != "" {
		result = append(result, document.Member{Key: "url", Value: a.URL})
	}
	return document.AppendJSON(nil, result), nil
}

// short matches the beginning of a selection in the short form.
var short = regexp.MustCompile(`^\s*\w+\s*=`)

// selectionOf parses a selection of documents: lists such as schemas=a/*,b/*;layers=site, or a mapping in YAML.
func selectionOf(ctx context.Context, text string) (any, error) {
	const flag = "--inputs"
	var value any
	if short.MatchString(text) {
		value = pairsOf(text)
	} else {
		var err error
		if value, err = document.ParseOne(ctx, []byte(text), document.YAML, document.DefaultLimits()); err != nil {
			return nil, fmt.Errorf("%s: %s", flag, strings.TrimPrefix(document.Details(err), "document 1, "))
		}
	}
	if _, err := validations.ParseSelection(flag, value); err != nil {
		return nil, err
	}
	return value, nil
}

// pairsOf returns the mapping of a selection in the short form.
func pairsOf(text string) document.Mapping {
	mapping := document.Mapping{}
	for part := range strings.SplitSeq(text, ";") {
		key, list, _ := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		items, labels := []any{}, document.Mapping{}
		for item := range strings.SplitSeq(list, ",") {
			item = strings.TrimSpace(item)
			label, value, _ := strings.Cut(item, ":")
			items, labels = append(items, item), append(labels, document.Member{Key: label, Value: value})
		}
		var value any = items
		if key == "labels" {
			value = labels
		}
		mapping = append(mapping, document.Member{Key: key, Value: value})
	}
	return mapping
}
