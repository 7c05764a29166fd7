package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"purser/cmd/purser/internal/folder"
	"purser/internal/client"
	"purser/internal/document"
	"purser/internal/wire"
	"purser/internal/words"
)

// resultsCommand posts and lists results of validations.
type resultsCommand struct {
	Post    resultsPostCommand    `cmd:"" help:"Post the result of a validation of your own."`
	Request resultsRequestCommand `cmd:"" help:"Ask for a new result of a validation, which others may claim to work on."`
	List    resultsListCommand    `cmd:"" help:"List the validations of a revision, or the results of one."`
}

// resultsPostCommand posts a result.
type resultsPostCommand struct {
	remote
	output
	aboutResult

	Validation string   `arg:"" help:"Name of the validation, such as drydock-site-validation." values:"validations"`
	Revision   string   `arg:"" default:"latest" help:"Revision that was validated: 17, tag:NAME. The default, latest, may by now be another one than you validated." values:"revisions"`
	Status     string   `enum:"success,failure," default:"" help:"success or failure." placeholder:"STATUS"`
	Validator  string   `default:"purser" help:"Name of the program that validated the revision."`
	Release    string   `default:"0" help:"Version of the program that validated the revision."`
	Error      []string `help:"What is wrong; may be repeated." placeholder:"TEXT" sep:"none"`
	Claim      string   `help:"Claim that the result ends: its id." placeholder:"ID"`
	File       string   `help:"File with the whole result, in YAML or JSON, instead of the other flags; - for standard input." placeholder:"FILE" complete:"file" short:"f"`
}

// Run posts the result.
func (c *resultsPostCommand) Run(ctx context.Context, around *surroundings) error {
	body, err := c.body(ctx, around)
	if err != nil {
		return err
	}
	return postResult(ctx, around, c.remote, c.output, posting{
		validation: c.Validation, revision: c.Revision, stamp: c.Stamp, claim: c.Claim, body: body,
	})
}

// posting is a result with its subject.
type posting struct {
	validation, revision, stamp, claim string
	body                               []byte
	done                               string // what the user did, if it is not to post a result
}

// postResult posts a result, and prints what became of it.
func postResult(ctx context.Context, around *surroundings, to remote, as output, of posting) error {
	server, err := to.ProvideClient(ctx, around)
	if err != nil {
		return err
	}
	revision, err := server.Resolve(ctx, of.revision)
	if err != nil {
		return err
	}
	query := url.Values{}
	if of.stamp != "" {
		query.Set("revision-stamp", of.stamp)
	}
	if of.claim != "" {
		query.Set("claim", of.claim)
	}
	var posted wire.Posted
	text, err := server.Send(ctx, client.Request{ // the only one, so that it needs no other right
		Method: http.MethodPost, Path: []string{"revisions", revision, "validations", of.validation}, Query: query,
		Body: of.body, Again: of.claim != "",
	}, &posted)
	if err != nil {
		return err
	}
	if posted.Warning != "" {
		fmt.Fprintln(around.stderr, "purser: warning:", posted.Warning)
	}
	if posted.Revision > 0 { // unless the server is in compat mode
		revision = strconv.FormatInt(posted.Revision, 10)
	}
	return as.print(around, answer{
		json: text, names: []string{posted.Status},
		text: fmt.Sprintf("Revision %s: %s is %s\n", revision, words.Line(of.validation),
			cmp.Or(of.done, "a "+posted.Status)),
	})
}

// resultsRequestCommand asks for a new result.
type resultsRequestCommand struct {
	remote
	output

	Validation string `arg:"" help:"Name of the validation, such as drydock-site-validation." values:"validations"`
	Revision   string `arg:"" default:"latest" help:"Revision: 17, latest (default), tag:NAME." values:"revisions"`
	Message    string `help:"Why, for those who read it in the list of claims." placeholder:"REASON" short:"m"`
}

// Run asks for a new result.
func (c *resultsRequestCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	revision, err := server.Resolve(ctx, c.Revision)
	if err != nil {
		return err
	}
	var asked wire.Requested
	text, err := server.Send(ctx, client.Request{
		Method: http.MethodPost, Path: []string{"revisions", revision, "validations", c.Validation, "request"},
		Body: marshal(map[string]string{"reason": c.Message}), JSON: true,
	}, &asked)
	if err != nil {
		return err
	}
	if asked.Warning != "" {
		fmt.Fprintln(around.stderr, "purser: warning:", asked.Warning)
	}
	return c.print(around, answer{
		json: text, names: []string{asked.Validation},
		text: fmt.Sprintf("Revision %d: a new result of %s is asked for\n", asked.Revision, words.Line(asked.Validation)),
	})
}

// body returns the body of the request.
func (c *resultsPostCommand) body(ctx context.Context, around *surroundings) ([]byte, error) {
	var text []byte
	var err error
	switch {
	case c.File != "" && c.Status+c.Inputs+c.URL != "":
		return nil, errors.New("--file holds the whole result; leave --status, --inputs and --url out")
	case c.File == "-":
		text, err = io.ReadAll(around.stdin)
	case c.File != "":
		text, err = os.ReadFile(c.File)
	case c.Status == "":
		return nil, errors.New("give --status success or --status failure, or a --file with the result")
	default:
		validator := document.Mapping{{Key: "name", Value: c.Validator}, {Key: "version", Value: c.Release}}
		return c.aboutResult.body(ctx, c.Status, validator, c.Error)
	}
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	return text, folder.Parsable(ctx, c.File, text)
}

// resultsListCommand lists validations or results.
type resultsListCommand struct {
	remoteRevision
	output

	Validation string `help:"The results of this validation, one by one." placeholder:"NAME" values:"validations"`
}

// Run prints the validations of the revision, or the results of one.
func (c *resultsListCommand) Run(ctx context.Context, around *surroundings, server opened) error {
	if c.Validation != "" {
		return c.entries(ctx, around, server)
	}
	var found wire.List[wire.Validation]
	query := url.Values{"newest": {"true"}}
	text, err := server.Get(ctx, &found, query, "revisions", server.revision, "validations")
	if err != nil {
		return err
	}
	return c.print(around, validationList(text, found.Results, around.colors))
}

// entries lists the results of one validation.
func (c *resultsListCommand) entries(ctx context.Context, around *surroundings, server opened) error {
	results, err := listOf[wire.Entry](ctx, server.Client, maxListed, nil,
		"revisions", server.revision, "validations", "detail")
	if err != nil {
		return err
	}
	return c.print(around, resultList(results, c.Validation, around.colors))
}

// validationList returns the validations of a revision.
func validationList(text []byte, validations []wire.Validation, colors bool) answer {
	rows, names := [][]string{{"VALIDATION", "STATUS", "AT", "FROM", "INPUTS", "URL"}}, []string{}
	for _, v := range validations {
		var newest wire.Newest
		if v.Newest != nil {
			newest = *v.Newest
		}
		names = append(names, v.Name)
		rows = append(rows, []string{
			v.Name, v.Status, dash(moment(newest.CreatedAt)), dash(origin(newest.CarriedFrom)), dash(string(newest.Inputs)),
			dash(newest.URL),
		})
	}
	return answer{text, names, paintedTable(rows, 1, colors)}
}

// origin returns the number of the revision that a result was carried over from, "" if it was not.
func origin(revision int64) string {
	if revision == 0 {
		return ""
	}
	return strconv.FormatInt(revision, 10)
}

// resultList returns those of a list of results that are of one validation.
func resultList(all list[wire.Entry], validation string, colors bool) answer {
	rows, names := [][]string{{"AT", "STATUS", "BY", "EXPIRES", "ERRORS", "FROM", "INPUTS", "URL"}}, []string{}
	var found list[wire.Entry]
	for i, entry := range all.items {
		if entry.Name != validation {
			continue
		}
		found.texts, names = append(found.texts, all.texts[i]), append(names, entry.Status)
		rows = append(rows, []string{
			dash(moment(entry.CreatedAt)), entry.Status, dash(entry.User), dash(moment(entry.Expires())),
			strconv.Itoa(len(entry.Errors)), dash(origin(entry.CarriedFrom)), dash(string(entry.Inputs)), dash(entry.ResultURL),
		})
	}
	return answer{found.text(), names, paintedTable(rows, 1, colors)}
}
