package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"purser/internal/attest"
	"purser/internal/document"
	"purser/internal/words"
)

// verifyCommand verifies an attestation without a server, or the history of a site.
type verifyCommand struct {
	connection
	output

	Attestation string `arg:"" optional:"" complete:"file" help:"File with an attestation. Without it, the history of the site is checked."`

	Key       string `help:"File with the public keys to trust: PEM, or a JSON Web Key Set as at /.well-known/purser-keys." placeholder:"FILE" complete:"file"`
	Documents string `help:"File with rendered documents to compare, YAML or JSON, or - for the standard input." placeholder:"FILE" complete:"file"`
	Events    string `help:"Compare the history with the events in this file, as purser events -o json prints them and webhooks receive them." placeholder:"FILE" complete:"file"`
	ClientKey string `env:"PURSER_KEY" group:"connection" help:"Key of the client certificate." placeholder:"FILE" complete:"file"`
}

// Validate refuses flags that do not go together, and an attestation without keys.
func (c *verifyCommand) Validate() error {
	switch {
	case c.Attestation == "" && (c.Key != "" || c.Documents != ""):
		return errors.New("--key and --documents are for an attestation: purser verify FILE --key FILE")
	case c.Attestation == "":
		return nil
	case c.Events != "":
		return errors.New("--events is for the history of a site, without an attestation")
	case c.Key == "":
		return errors.New("--key is missing: the file with the public keys to trust")
	}
	return nil
}

// Run verifies the attestation, or the history. It fails, without an error, if that is not to be trusted.
func (c *verifyCommand) Run(ctx context.Context, around *surroundings) error {
	if c.Attestation == "" {
		server, err := (&remote{connection: c.connection, Key: c.ClientKey}).ProvideClient(ctx, around)
		if err != nil {
			return err
		}
		return c.history(ctx, around, server)
	}
	envelope, err := os.ReadFile(c.Attestation)
	if err != nil {
		return fmt.Errorf("read the attestation: %w", err)
	}
	text, err := os.ReadFile(c.Key)
	if err != nil {
		return fmt.Errorf("read the public keys: %w", err)
	}
	keys, err := attest.ParseKeys(text)
	if err != nil {
		return fmt.Errorf("--key %s: %w", c.Key, err)
	}
	documents, unread, err := c.documents(ctx, around.stdin)
	if err != nil {
		return err
	}
	found, err := attest.Verify(ctx, envelope, keys, documents, time.Now())
	if err != nil {
		return fmt.Errorf("compare the documents: %w", err)
	}
	if unread != nil {
		found.Reasons = append(found.Reasons, "the documents cannot be compared: "+unread.Error())
	}
	if err := c.print(around, verificationAnswer(found, unread == nil && documents == nil)); err != nil {
		return err
	}
	if !found.Verified() {
		return no("")
	}
	return nil
}

// documents reads the documents to compare, nil if none are named. unread is what is wrong with their text.
func (c *verifyCommand) documents(ctx context.Context, stdin io.Reader) (
	documents *attest.Documents, unread, err error,
) {
	var text []byte
	switch c.Documents {
	case "":
		return nil, nil, nil
	case "-":
		text, err = io.ReadAll(stdin)
	default:
		text, err = os.ReadFile(c.Documents)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the documents: %w", err)
	}
	read, unread := attest.ReadDocuments(ctx, text)
	if unread != nil {
		return nil, unread, nil
	}
	return &read, nil, nil
}

// verification is what is known of an attestation, as JSON.
type verification struct {
	Verified  bool              `json:"verified"`
	Reasons   []string          `json:"reasons"`
	KeyID     string            `json:"keyid,omitempty"`
	Documents *comparison       `json:"documents,omitempty"`
	Statement *attest.Statement `json:"statement,omitempty"`
}

type comparison struct {
	Same       bool          `json:"same"`
	Covered    int           `json:"covered"`
	NotCovered []attest.Name `json:"notCovered"`
}

// verificationAnswer returns what is known of an attestation. uncompared means that no documents were given.
func verificationAnswer(v attest.Verification, uncompared bool) answer {
	view := verification{
		Verified: v.Verified(), Reasons: append([]string{}, v.Reasons...), KeyID: v.KeyID, Statement: v.Statement,
	}
	if v.Documents != nil {
		view.Documents = &comparison{v.Documents.Same, v.Documents.Covered, []attest.Name{}}
		for _, id := range v.Documents.NotCovered {
			view.Documents.NotCovered = append(view.Documents.NotCovered, attest.Name(id))
		}
	}
	word := "verified"
	if !v.Verified() {
		word = "not verified"
	}
	var b strings.Builder
	b.WriteString(word)
	if v.Statement != nil {
		b.WriteString(": " + words.Line(v.Statement.Revision()))
	}
	b.WriteByte('\n')
	for _, reason := range v.Reasons {
		b.WriteString("  " + words.Line(reason) + "\n")
	}
	if v.Statement != nil {
		b.WriteString(table(statementRows(v, uncompared)))
	}
	text, err := json.Marshal(view)
	if err != nil {
		text = []byte("{}") // strings and numbers always marshal
	}
	return answer{text, []string{word}, b.String()}
}

// statementRows returns what a statement says, and what of the given documents it is about.
func statementRows(v attest.Verification, uncompared bool) [][]string {
	said := v.Statement.Predicate
	until := said.ValidUntil
	if until == "" {
		until = "no end"
	}
	rows := [][]string{
		{"  made", said.TimeCreated + " by " + said.Verifier.ID},
		{"  valid until", until},
		{"  signed with", v.KeyID},
		{"  validations", listed(said.Validations())},
		{"  waived", listed(said.Waivers())},
		{"  chain", v.Statement.Chain()},
	}
	switch documents := v.Documents; {
	case uncompared:
		rows = append(rows, []string{"  documents", "not compared: --documents FILE compares them"})
	case documents != nil && documents.Same:
		rows = append(rows, []string{"  documents", words.Count(documents.Covered, "document") + ", the same"})
	}
	if v.Documents != nil && len(v.Documents.NotCovered) > 0 {
		rows = append(rows, []string{"  not covered", notCovered(v.Documents.NotCovered)})
	}
	return rows
}

// listed returns names, "none" if there are none.
func listed(names []string) string {
	const most = 20
	if len(names) == 0 {
		return "none"
	}
	return words.Some(names, most)
}

// notCovered names documents that a statement does not cover.
func notCovered(ids []document.Identity) string {
	const most = 5
	var names []string
	for _, id := range ids {
		names = append(names, id.Known())
	}
	return words.Count(len(ids), "document") + ", which the attestation says nothing about: " + words.Some(names, most)
}
