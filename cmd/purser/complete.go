package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"purser/internal/check"
	"purser/internal/client"
	"purser/internal/events"
	"purser/internal/wire"
)

// completeValues is the hidden command of completion scripts. Its arguments are the words of a command line after
// purser, up to the one that is being typed, which may be empty.
const completeValues = "complete-values"

// completed prints the values that the last word can have, one a line. It asks nothing, reports no error, and ends soon
// even if it has to leave something behind: a token file may be a pipe that nobody writes to.
func completed(ctx context.Context, around *surroundings, words []string, model *kong.Node) {
	const patience = 1500 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found := make(chan []string, 1)
	go func() { found <- completions(ctx, words, model) }()
	select {
	case <-ctx.Done():
	case lines := <-found:
		for _, line := range lines {
			_, _ = fmt.Fprintln(around.stdout, line)
		}
	}
}

// completions returns the values that the last of the words can have, without the part that bash keeps.
func completions(ctx context.Context, words []string, model *kong.Node) []string {
	words, kept := joined(words)
	words, last := words[:len(words)-1], words[len(words)-1]
	value, before := after(words, model).valueOf(last)
	if value == nil {
		return nil
	}
	values := valuesOf(value)
	if len(values) == 0 {
		values, _ = known(ctx, value.Tag.Get("values"), words, model) // none if the server cannot be asked
	}
	lines := []string{}
	for _, word := range values {
		word = before + word
		isWord := !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
		if isWord && strings.HasPrefix(word, last) {
			lines = append(lines, strings.TrimPrefix(word, kept))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// joined joins words that bash has split at : and =. kept is the part of the last one that bash does not replace.
func joined(words []string) (whole []string, kept string) {
	isBreak := func(word string) bool { return word != "" && strings.Trim(word, ":=") == "" }
	whole = []string{""}
	for i, word := range words {
		last := len(whole) - 1
		switch {
		case i == 0:
			whole[0] = word
		case isBreak(word):
			whole[last] += word
			kept = whole[last]
		case isBreak(words[i-1]):
			kept = whole[last]
			whole[last] += word
		default:
			whole, kept = append(whole, word), ""
		}
	}
	return whole, kept
}

// place is a place in a command line.
type place struct {
	command   *kong.Node
	flag      *kong.Flag // whose value is expected; nil if none is
	ended     bool       // -- has ended the flags
	arguments int        // of the command, before the place
}

// after returns the place after the words of a command line.
func after(words []string, model *kong.Node) place {
	at := place{command: model}
	for _, word := range words {
		child := slices.IndexFunc(at.command.Children, func(c *kong.Node) bool { return c.Name == word })
		switch {
		case at.flag != nil:
			at.flag = nil
		case word == "--":
			at.ended = true
		case strings.HasPrefix(word, "-") && !at.ended:
			if f, _, hasValue := flagOf(word, at.command); f != nil && !f.IsBool() && !hasValue {
				at.flag = f
			}
		case child >= 0:
			at.command = at.command.Children[child]
		default:
			at.arguments++
		}
	}
	return at
}

// valueOf returns the flag or argument that a word at the place is a value of, nil if it is none. before is the part of
// the word before the value: --flag=.
func (at place) valueOf(word string) (value *kong.Value, before string) {
	arguments := at.command.Positional
	switch {
	case at.flag != nil:
		return at.flag.Value, ""
	case at.ended && at.command.Name == "diff": // see afterDash
		document, _, _ := flagOf("--document", at.command)
		return document.Value, ""
	case strings.HasPrefix(word, "-") && !at.ended:
		if f, before, hasValue := flagOf(word, at.command); f != nil && hasValue {
			return f.Value, before
		}
	case at.arguments < len(arguments):
		return arguments[at.arguments], ""
	case len(arguments) > 0 && arguments[len(arguments)-1].IsSlice():
		return arguments[len(arguments)-1], ""
	}
	return nil, ""
}

// flagOf returns the flag of a command that a word names, nil if there is none, and whether its value follows in the
// same word, after before.
func flagOf(word string, node *kong.Node) (flag *kong.Flag, before string, hasValue bool) {
	name, _, hasValue := strings.Cut(word, "=")
	for _, f := range node.Flags {
		if slices.Contains(formsOf(f), name) || slices.Contains(f.Aliases, strings.TrimPrefix(name, "--")) {
			return f, name + "=", hasValue
		}
	}
	return nil, "", false
}

// known returns the values of a kind, such as buckets, that the configuration file, the server of the command line or
// purser itself knows.
func known(ctx context.Context, kind string, words []string, model *kong.Node) (values []string, err error) {
	switch kind {
	case "":
		return nil, nil
	case "commands":
		return commandNames(words[1:], model), nil
	case "rules":
		for _, rule := range check.Rules() {
			values = append(values, rule.ID)
		}
		return values, nil
	case "event types":
		for _, each := range events.Types() {
			values = append(values, string(each))
		}
		return values, nil
	case "servers":
		config, err := readConfiguration(ctx, configPath())
		return config.names(), err
	}
	server, err := quietly(ctx, words)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "sites":
		found, err := listOf[wire.Site](ctx, server.Sites(), maxCompleted, nil)
		return siteList(found, false).names, err
	case "labels":
		found, err := listOf[wire.Site](ctx, server.Sites(), maxCompleted, nil)
		return labelsIn(found), err
	case "buckets":
		buckets, err := listOf[wire.Bucket](ctx, server, maxCompleted, nil, "buckets")
		return bucketList(buckets).names, err
	case "validations":
		var found wire.List[wire.Validation]
		_, err := server.Get(ctx, &found, nil, "revisions", "latest", "validations")
		return validationList(nil, found.Results, false).names, err
	case "tags", "revisions":
		query := url.Values{"sort": {"id"}, "order": {"desc"}}
		revisions, err := listOf[wire.Revision](ctx, server, maxCompleted, query, "revisions")
		return revisionNames(kind, revisions), err
	}
	return documentParts(ctx, kind, server)
}

// labelsIn returns the labels of sites, as KEY=VALUE.
func labelsIn(sites list[wire.Site]) (labels []string) {
	for _, site := range sites.items {
		for key, value := range site.Labels {
			labels = append(labels, key+"="+value)
		}
	}
	return labels
}

// maxCompleted bounds the items of a list that completions are taken from.
const maxCompleted = 1000

// commandNames returns the names of the subcommands of a command.
func commandNames(words []string, node *kong.Node) (names []string) {
	for _, word := range words {
		i := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == word })
		if i < 0 {
			return nil
		}
		node = node.Children[i]
	}
	for _, child := range shownCommands(node) {
		names = append(names, child.Name)
	}
	return names
}

// revisionNames returns the tags of revisions, or the names of the revisions.
func revisionNames(kind string, revisions list[wire.Revision]) []string {
	tags := tagList(revisions.items).names
	if kind == "tags" {
		return tags
	}
	names := []string{"latest"}
	if len(revisions.items) > 1 {
		names = append(names, "latest~1")
	}
	for _, tag := range tags {
		names = append(names, "tag:"+tag)
	}
	return append(names, revisionList(revisions, false).names...)
}

// documentParts returns the documents of the newest revision as SCHEMA/NAME, or their schemas, names or layers. The
// list of differences from nothing has no data, and so is cheap.
func documentParts(ctx context.Context, kind string, server *client.Client) (values []string, err error) {
	const most = 5000
	var found wire.List[wire.Difference]
	query := url.Values{"format": {"documents"}, "rendered": {"false"}, "limit": {strconv.Itoa(most)}}
	_, err = server.Get(ctx, &found, query, "revisions", "0", "deepdiff", "latest")
	for _, d := range found.Results {
		value := map[string]string{
			"documents": d.Schema + "/" + d.Name, "schemas": d.Schema, "names": d.Name, "layers": string(d.Layer),
		}[kind]
		if value != "" {
			values = append(values, value)
		}
	}
	return values, err
}

// quietly returns a client for the server that a command line names, that sends a request once and prints nothing. It
// renews no token and runs no program for one, which might ask for something, and sends none where others may read it.
func quietly(ctx context.Context, words []string) (*client.Client, error) {
	var r remote
	parser, err := kong.New(&r, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return nil, fmt.Errorf("read the definitions of flags: %w", err)
	}
	if _, err := parser.Parse(connecting(words, parser.Model.Node)); err != nil {
		return nil, fmt.Errorf("read the flags: %w", err)
	}
	server, err := findServer(ctx, r.Server)
	if err != nil {
		return nil, err
	}
	server = r.over(server)
	held, err := r.stored(server)
	if err != nil {
		return nil, err
	}
	c, err := r.dial(&surroundings{stderr: io.Discard}, server, held.Token)
	if err != nil {
		return nil, err
	}
	if c.TokenInClear() {
		return nil, fmt.Errorf("others could read the token on its way to %s", server.URL)
	}
	c.Once = true
	return c, nil
}

// connecting returns the words that are flags of a command, with their values.
func connecting(words []string, node *kong.Node) (flags []string) {
	for i, word := range words {
		switch f, _, hasValue := flagOf(word, node); {
		case f == nil || f.Name == "help":
		case hasValue:
			flags = append(flags, word)
		case i+1 < len(words):
			flags = append(flags, word+"="+words[i+1])
		}
	}
	return flags
}
