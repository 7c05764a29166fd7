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
// in any case: a token file may be a pipe that nobody writes to.
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
	at := wordAt(words, model)
	if at.value == nil {
		return nil
	}
	values := valuesOf(at.value)
	if kind := at.value.Tag.Get("values"); len(values) == 0 {
		values, _ = known(ctx, kind, words[:len(words)-1], model) // none if the server cannot be asked
	}
	lines := []string{}
	for _, value := range values {
		value = at.before + value
		isWord := !strings.ContainsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
		if isWord && strings.HasPrefix(value, words[len(words)-1]) {
			lines = append(lines, strings.TrimPrefix(value, kept))
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

// typed is where the last word of a command line belongs.
type typed struct {
	value  *kong.Value // the flag or argument; nil if it is neither
	before string      // --flag= before the value
}

// wordAt returns where the last of the words of a command line belongs.
func wordAt(words []string, node *kong.Node) typed {
	var flag *kong.Flag // whose value is the next word
	ended, arguments := false, 0
	for _, word := range words[:len(words)-1] {
		child := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == word })
		switch {
		case flag != nil:
			flag = nil
		case word == "--":
			ended = true
		case strings.HasPrefix(word, "-") && !ended:
			if f, _, hasValue := flagOf(word, node); f != nil && !f.IsBool() && !hasValue {
				flag = f
			}
		case child >= 0:
			node = node.Children[child]
		default:
			arguments++
		}
	}
	last := words[len(words)-1]
	switch {
	case flag != nil:
		return typed{value: flag.Value}
	case ended && node.Name == "diff":
		if document, _, _ := flagOf("--document", node); document != nil {
			return typed{value: document.Value}
		}
	case strings.HasPrefix(last, "-") && !ended:
		if f, before, hasValue := flagOf(last, node); f != nil && hasValue {
			return typed{f.Value, before}
		}
		return typed{}
	case arguments < len(node.Positional):
		return typed{value: node.Positional[arguments]}
	case len(node.Positional) > 0 && node.Positional[len(node.Positional)-1].IsSlice():
		return typed{value: node.Positional[len(node.Positional)-1]}
	}
	return typed{}
}

// flagOf returns the flag of a command that a word names, nil if there is none, and whether its value follows in the
// same word, after before.
func flagOf(word string, node *kong.Node) (flag *kong.Flag, before string, hasValue bool) {
	name, _, hasValue := strings.Cut(word, "=")
	for _, f := range node.Flags {
		if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) || slices.Contains(f.Aliases, strings.TrimPrefix(name, "--")) {
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
	case "buckets":
		buckets, err := listOf[wire.Bucket](ctx, server, maxCompleted, nil, "buckets")
		return bucketList(buckets).names, err
	case "validations":
		var found wire.List[wire.Validation]
		_, err := server.Get(ctx, &found, nil, "revisions", "latest", "validations")
		return validationList(nil, found.Results).names, err
	case "tags", "revisions":
		query := url.Values{"sort": {"id"}, "order": {"desc"}}
		revisions, err := listOf[wire.Revision](ctx, server, maxCompleted, query, "revisions")
		return revisionNames(kind, revisions), err
	}
	return documentParts(ctx, kind, server)
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
	return append(names, revisionList(revisions).names...)
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
// runs no program for a token, which might ask for something, and sends no token where others may read it.
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
	token, err := r.stored(server)
	if err != nil {
		return nil, err
	}
	c, err := r.dial(&surroundings{stderr: io.Discard}, server, token)
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
