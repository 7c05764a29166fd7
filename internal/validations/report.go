package validations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// Error is one item of an internal validation entry's errors.
type Error struct {
	ErrorSection     json.RawMessage `json:"error_section"`
	Layer            string          `json:"layer"`
	Message          string          `json:"message"`
	Name             string          `json:"name"`
	Path             string          `json:"path"`
	Schema           string          `json:"schema"`
	SchemaPath       string          `json:"schema_path"`
	ValidationSchema json.RawMessage `json:"validation_schema"`
	// Hint suggests a correction.
	Hint string `json:"hint,omitempty"`
	// Causes are the errors in that branch of an anyOf or oneOf that was most likely intended.
	Causes []Cause `json:"causes,omitempty"`
	// Unlisted is the number of errors that it stands for, which a list has no room for; 0 if it is an error itself.
	Unlisted int `json:"-"`
}

// Cause is an error in a branch of an anyOf or oneOf.
type Cause struct {
	Message    string  `json:"message"`
	Path       string  `json:"path"`
	SchemaPath string  `json:"schema_path"`
	Hint       string  `json:"hint,omitempty"`
	Causes     []Cause `json:"causes,omitempty"`
}

// Sanitized replaces values that may be secret.
const Sanitized = "Sanitized to avoid exposing secret."

// Unquoted returns the message about a violation of a schema's rule whose own message was Sanitized. It is Sanitized
// itself if the rule is not known either.
func Unquoted(rule string) string {
	if rule == "" || rule == "." {
		return Sanitized
	}
	return "The value violates " + rule + " of the schema; it is not quoted, because it may be a secret: correct it, or " +
		"the document that it is taken from"
}

// MaxSection bounds the part of a document, and that of a schema, in an error, in bytes.
const MaxSection = 64 << 10

// maxPath bounds each path in an error, in bytes.
const maxPath = 2000

// omitted replaces the large parts of errors when there are too many errors.
const omitted = `"Left out, because there are too many failures to show; ask for this entry alone."`

// Report returns the errors for findings of a rule in a document. They do not contain values that substitutions write.
// They contain the sections of the document and the schema until these take room bytes.
func Report(doc *document.Document, rule []byte, findings []Finding, room int) ([]Error, error) {
	return report(doc, rule, findings, room, secretsOf(doc))
}

// ReportRendered is like Report for a rendered document. destinations are the paths to which substitutions wrote.
func ReportRendered(doc *document.Document, rule []byte, findings []Finding, room int, destinations [][]string) (
	[]Error, error,
) {
	return report(doc, rule, findings, room, secrets{doc.Traits().Encrypted, destinations})
}

func report(doc *document.Document, rule []byte, findings []Finding, room int, secrets secrets) ([]Error, error) {
	if len(findings) == 0 {
		return nil, nil
	}
	var whole document.Mapping
	if room > 0 {
		var err error
		if whole, err = secrets.scrubbed(doc); err != nil {
			return nil, err
		}
	}
	errs := make([]Error, 0, len(findings))
	for _, finding := range findings {
		e := Error{
			ErrorSection: json.RawMessage(omitted), Layer: doc.Layer, Message: secrets.message(finding),
			Name: doc.Name, Path: pathOf(finding), Schema: doc.Schema, SchemaPath: words.FirstBytes(finding.SchemaPath, maxPath),
			ValidationSchema: json.RawMessage(omitted),
		}
		if e.Message != Sanitized {
			e.Hint, e.Causes = finding.Hint, secrets.causes(finding.Causes)
		}
		if room > 0 {
			e.ErrorSection, e.ValidationSchema = section(whole, finding.Instance), bounded(rule)
			room -= e.details()
		}
		errs = append(errs, e)
	}
	return errs, nil
}

// details returns the size of the parts of the document and the schema in an error, in bytes.
func (e *Error) details() int { return len(e.ErrorSection) + len(e.ValidationSchema) }

// WithDetails returns errors with their parts of the document and the schema until these take room bytes.
func WithDetails(errs []Error, room int) []Error {
	shown := slices.Clone(errs)
	for i := range shown {
		if room > 0 {
			room -= shown[i].details()
		} else {
			shown[i].ErrorSection, shown[i].ValidationSchema = json.RawMessage(omitted), json.RawMessage(omitted)
		}
	}
	return shown
}

// pathOf returns the path of a finding in its document, or the beginning of a very long one.
func pathOf(f Finding) string {
	return words.FirstBytes(strings.Join(append([]string{".data"}, f.Instance...), "."), maxPath)
}

// causes returns the causes in findings, without those whose messages may contain secrets.
func (s secrets) causes(findings []Finding) (causes []Cause) {
	for _, f := range findings {
		if message := s.message(f); message != Sanitized {
			rule := words.FirstBytes(f.SchemaPath, maxPath)
			causes = append(causes, Cause{message, pathOf(f), rule, f.Hint, s.causes(f.Causes)})
		}
	}
	return causes
}

// D002 returns the message about an error in a rendered document.
func D002(e Error) fault.Message {
	return fault.Message{
		Message: e.Message, Error: true, Name: "D002", Level: "Error", Kind: "ValidationMessage",
		Documents: []fault.Document{{Schema: e.Schema, Name: e.Name, Layer: e.Layer}},
		Diagnostic: map[string]any{
			"schema_path": e.SchemaPath, "validation_schema": e.ValidationSchema, "error_section": e.ErrorSection,
		},
	}
}

// Unchecked returns the error for a rendered document whose DataSchema is unusable.
func Unchecked(doc *document.Document) Error {
	return Unexplained(doc, "The document cannot be checked, because its DataSchema "+doc.Schema+" cannot be used: "+
		"fix it, or remove it", true)
}

// section returns the value around the value of a finding, or the whole document if that is all of its data.
func section(whole document.Mapping, instance []string) json.RawMessage {
	var around any = whole
	if len(instance) > 0 {
		around = document.Locate(whole.At("data"), instance[:len(instance)-1])
	}
	if text := document.ShortJSON(around, MaxSection); text != nil {
		return text
	}
	return json.RawMessage(tooLong)
}

const tooLong = `"It has more than 64 KiB, too many to show here."`

func bounded(text []byte) json.RawMessage {
	if len(text) > MaxSection {
		return json.RawMessage(tooLong)
	}
	return text
}

// Size returns about how many bytes an error takes as JSON text.
func (e *Error) Size() int {
	const keys = 200
	size := keys + len(e.ErrorSection) + len(e.ValidationSchema) + len(e.Message) + len(e.Path) + len(e.SchemaPath) +
		len(e.Hint) + len(e.Schema) + len(e.Layer) + len(e.Name)
	return size + sizeOfCauses(e.Causes)
}

func sizeOfCauses(causes []Cause) (size int) {
	const keys = 50
	for _, c := range causes {
		size += keys + len(c.Message) + len(c.Path) + len(c.SchemaPath) + len(c.Hint) + sizeOfCauses(c.Causes)
	}
	return size
}

// FirstMessage returns the message of the first error in a JSON list, "" if there is none. It reads no other errors.
func FirstMessage(list []byte) string {
	var item struct {
		Message string `json:"message"`
	}
	items := json.NewDecoder(bytes.NewReader(list))
	if begin, err := items.Token(); err != nil || begin != json.Delim('[') || !items.More() || items.Decode(&item) != nil {
		return ""
	}
	return item.Message
}

// secrets describes which places in a document's data may hold secrets.
type secrets struct {
	everywhere bool
	paths      [][]string
}

func secretsOf(doc *document.Document) secrets {
	traits := doc.Traits()
	s := secrets{everywhere: traits.Encrypted}
	for _, destination := range traits.Destinations {
		s.paths = append(s.paths, document.SplitPath(destination))
	}
	return s
}

// scrubbed returns a document without what may be secret.
func (s secrets) scrubbed(doc *document.Document) (document.Mapping, error) {
	data, err := document.ParseJSON(doc.Data)
	if err != nil {
		return nil, fmt.Errorf("read data of %s: %w", doc.Identity, err)
	}
	metadata, err := document.ParseJSON(doc.Metadata)
	if err != nil {
		return nil, fmt.Errorf("read metadata of %s: %w", doc.Identity, err)
	}
	return document.Mapping{
		{Key: "data", Value: s.scrub(data)}, {Key: "metadata", Value: metadata}, {Key: "schema", Value: doc.Schema},
	}, nil
}

func (s secrets) scrub(data any) any {
	if s.everywhere {
		return document.Replace(data, nil, Sanitized)
	}
	for _, path := range s.paths {
		data = document.Replace(data, path, Sanitized)
	}
	return data
}

func (s secrets) message(f Finding) string {
	if !s.everywhere && len(s.paths) == 0 {
		return f.Message
	}
	if s.everywhere || strings.HasSuffix(f.SchemaPath, ".type") { // like Deckhand, hide all "is not of type" messages
		return Sanitized
	}
	for _, path := range s.paths {
		within := hasPrefix(f.Instance, path)
		around := hasPrefix(path, f.Instance) && !f.Names
		if within || around {
			return Sanitized
		}
	}
	return f.Message
}

func hasPrefix(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// TooMuchWork is the message for a secret whose check exceeds the budget.
const TooMuchWork = "The document is not checked any further, because that takes too much work: simplify the schema"

// Unlisted is the message for each finding of a document in a list that is too long already.
const Unlisted = "It is not described, because there are too many errors"

// Joined is the message of a validation that fails only because another one does.
const Joined = "It fails because another validation of the server does, on something that depends on an encrypted " +
	"document: they fail together, so that callers who may not see encrypted documents learn only that something fails"

// HiddenWarning returns the last warning of a stored result if there are others that depend on secrets, for which it
// stands. Its level is fault.Info if that is the level of all of these.
func HiddenWarning(level string) fault.Message {
	return fault.Message{
		Message: "Some warnings depend on encrypted documents; the findings list them", Level: level,
		Kind: fault.WarningKind, Secret: true,
	}
}

// HiddenWarnings returns the texts that a HiddenWarning can have. A stored result is the same without it whether there
// are warnings that depend on secrets or not.
func HiddenWarnings() (texts []string) {
	for _, level := range []string{fault.Info, "Warning"} {
		text, err := json.Marshal(HiddenWarning(level))
		if err != nil {
			panic(fmt.Errorf("write a warning: %w", err)) // such messages always marshal
		}
		texts = append(texts, string(text))
	}
	return texts
}

// Unopened is the message for an encrypted document that cannot be decrypted for its check.
const Unopened = "The document cannot be checked, because its secret cannot be opened"

// OfSecret returns findings about secret data. They keep their rules but not their messages and places.
func OfSecret(findings []Finding) []Finding {
	var concealed []Finding
	for _, finding := range findings {
		concealed = append(concealed, Finding{
			Message: Sanitized, Instance: []string{}, SchemaPath: finding.SchemaPath, Secret: true,
		})
	}
	return concealed
}

// OfSecretSchema returns a replacement for a schema that contains a secret, and for findings that may quote
// it. They keep their places in the document.
func OfSecretSchema(findings []Finding) (schema []byte, concealed []Finding) {
	for _, finding := range findings {
		concealed = append(concealed, Finding{
			Message: Sanitized, Instance: finding.Instance, SchemaPath: ".", Secret: true,
		})
	}
	return document.AppendJSON(nil, Sanitized), concealed
}

// AreSecret reports whether findings depend on secrets.
func AreSecret(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Secret })
}

// Concealed returns findings as they are stored. If any is secret, the result is a single one, which reveals neither
// the rules nor the number of findings.
func Concealed(findings []Finding) []Finding {
	if !AreSecret(findings) {
		return findings
	}
	return []Finding{{Message: Sanitized, Instance: []string{}, SchemaPath: ".", Secret: true}}
}

// Unexplained returns the error for a document whose findings are withheld, with a message in their place. Unless
// named, the error does not identify the document, which may be nil.
func Unexplained(doc *document.Document, message string, named bool) Error {
	const null = "null"
	e := Error{
		ErrorSection: json.RawMessage(null), ValidationSchema: json.RawMessage(null), Message: message, Path: ".data",
		SchemaPath: ".",
	}
	if named {
		e.Schema, e.Layer, e.Name = doc.Schema, doc.Layer, doc.Name
	}
	return e
}
