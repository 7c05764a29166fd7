package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"purser/internal/document"
	"purser/internal/wire"
	"purser/internal/words"
)

// Error is an error that the server answered. Its text is the server's message, in which hints about commands replace
// those about requests.
type Error struct {
	Status   int
	Type     string // the server's name for the error; "" if it is not from Purser
	Message  string
	Reason   string        // the server's name for one of several reasons for a Type; may be ""
	Messages []Message     // each about one problem; one may repeat Message with its document
	Unstored bool          // the server states that nothing was stored
	After    time.Duration // the server's Retry-After; 0 if there is none
	Server   string        // its URL
	Change   bool          // the request was a change or the dry run of one

	plain bool   // without a hint
	sited bool   // the path of the request names a site
	login string // the hint where a token is needed
	site  string // the flag for commands in hints
}

// Error implements error.
func (e *Error) Error() string {
	said := words.Printable(e.Message)
	text, others := said, ""
	for _, m := range e.Messages {
		switch about := m.text(); {
		case about == "" || about == said || m.IsRequestHint():
		case text == said && words.Printable(m.Message) == said: // the same message, with its document
			text = about
		default:
			others += "\n  " + about
		}
	}
	text = strings.TrimPrefix(text+others, "\n  ")
	switch {
	case text == "" && e.Status == http.StatusUnauthorized && len(e.Messages) > 0:
		text = e.Server + " requires a token, and none was sent"
	case text == "":
		text = strconv.Itoa(e.Status) + " " + http.StatusText(e.Status)
	}
	if hint := e.hint(); hint != "" {
		text += "\n" + hint
	}
	return document.WithoutNone(text)
}

// Refusal reports whether the server refused a change because of its content or the stored documents, rather than
// because of the caller or the server's state.
func (e *Error) Refusal() bool {
	switch e.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusConflict, http.StatusPreconditionFailed:
		return e.Change && e.Type != ""
	}
	return false
}

func (e *Error) hint() string {
	switch {
	case e.Type == "", e.plain:
		return ""
	case e.Status == http.StatusUnauthorized:
		return e.login
	case e.Type == "RevisionNotFound":
		return "`purser log" + e.site + "` lists the revisions."
	case e.Type == "RevisionTagNotFound":
		return "`purser tag" + e.site + "` lists the tags."
	case e.Type == "UnknownSite":
		return "`purser sites` lists the sites that you may see."
	case e.Type == "SiteArchived":
		return "`purser sites open` opens an archived site."
	case e.Type == "SiteNotArchived":
		return "`purser sites archive` archives a site, so that it takes no more changes; it can then be deleted."
	case e.Type == "HTTPRouteNotFound" && e.sited:
		return "It may be an older version of Purser, which has one site only: leave the name of the site out."
	case e.Status == http.StatusForbidden && e.Reason != reservedName:
		return "`purser whoami" + e.site + "` lists your roles and rights."
	}
	return ""
}

// reservedName is the Reason for which a result is refused, whatever rights the caller has.
const reservedName = "ReservedName"

// maxText bounds the part of an answer that is shown if the answer is not from Purser.
const maxText = 200

// errorOf returns the error in the answer to a request.
func (c *Client) errorOf(ctx context.Context, r Request, answer Answer) error {
	e := &Error{
		Status: answer.Status, After: retryAfter(answer.Header.Get("Retry-After"), answer.Header.Get("Date")),
		Server: c.base.String(), Change: r.Method != "" && r.Method != http.MethodGet && !r.Question,
		plain: c.Plain, login: c.Login, sited: c.below != apiPath, site: c.SiteFlag,
	}
	var envelope struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
		Reason  string `json:"reason"`
		Details struct {
			ErrorType   string    `json:"errorType"`
			MessageList []Message `json:"messageList"`
		} `json:"details"`
	}
	if json.Unmarshal(jsonOf(ctx, answer), &envelope) != nil || envelope.Kind != "Status" {
		e.Message = c.foreign(answer)
		return e
	}
	e.Type, e.Message, e.Messages = envelope.Details.ErrorType, envelope.Message, envelope.Details.MessageList
	e.Reason = envelope.Reason
	e.Unstored = answer.Header.Get("Purser-Stored") == "no" || e.Status == http.StatusNotImplemented
	return e
}

// Message is an item of an error's message list.
type Message struct {
	Message    string          `json:"message"`
	Kind       string          `json:"kind"`
	Diagnostic json.RawMessage `json:"diagnostic"` // the place and the remedy, or the violated rule
	Documents  []wire.Identity `json:"documents"`  // that the message is about
}

// IsRequestHint reports whether a message only says which request of the API helps.
func (m Message) IsRequestHint() bool { return m.Kind == "RequestHint" }

// text returns the message with its document, and the diagnostic on a line of its own.
func (m Message) text() string {
	text := m.Message
	if text == "" {
		return ""
	}
	if len(m.Documents) == 1 {
		if about := m.Documents[0].String(); about != "" {
			text = about + ": " + text
		}
	}
	if diagnostic := m.diagnostic(); diagnostic != "" {
		text += "\n    " + diagnostic
	}
	return words.Printable(text)
}

// diagnostic returns the diagnostic as text.
func (m Message) diagnostic() (text string) {
	var rule struct {
		Path string `json:"schema_path"`
	}
	switch {
	case json.Unmarshal(m.Diagnostic, &text) == nil:
	case json.Unmarshal(m.Diagnostic, &rule) == nil && rule.Path != "":
		text = "The rule is " + rule.Path + " of the document's schema."
	}
	return text
}

// jsonOf returns the body of an error as JSON. Errors are YAML if YAML or text was requested.
func jsonOf(ctx context.Context, answer Answer) []byte {
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind != YAML {
		return answer.Body
	}
	value, err := document.ParseOne(ctx, answer.Body, document.YAML, document.DefaultLimits())
	if err != nil {
		return nil
	}
	return document.AppendJSON(nil, value)
}

// foreign describes an answer that is not from Purser.
func (c *Client) foreign(answer Answer) string {
	text := fmt.Sprintf("%s answers %d %s", c.base, answer.Status, http.StatusText(answer.Status))
	if at := answer.Header.Get("Location"); at != "" && answer.Status/100 == 3 {
		return text + ", to " + words.Printable(at) + ": name the server by the URL where it is"
	}
	if c.base.Scheme == "http" && answer.Status == http.StatusBadRequest && speaksTLS.Match(answer.Body) {
		return c.base.String() + " uses TLS: name the server as https://" + c.base.Host + c.base.Path
	}
	kind := answer.Header.Get("Content-Type")
	text += ", not in Purser's form but as " + strconv.Quote(kind) +
		"; is a proxy in front of it, or is it another server?"
	if strings.HasPrefix(kind, "text/plain") {
		shown := strings.TrimSpace(words.Printable(string(answer.Body[:min(len(answer.Body), maxText)])))
		text += " It says: " + shown
	}
	return text
}

// speaksTLS matches the answers of Go's servers, nginx and Apache to a plain HTTP request on a TLS port.
var speaksTLS = regexp.MustCompile(`to an HTTPS server|to HTTPS port|speaking plain HTTP to an SSL-enabled`)

// retryAfter parses Retry-After: seconds, or a date, which is compared with the server's own clock.
func retryAfter(value, date string) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		const most = 24 * 60 * 60
		return time.Duration(min(max(seconds, 0), most)) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(date)
	if err != nil {
		return 0
	}
	return max(until.Sub(now), 0)
}

// lost is the error of a request without a complete answer.
type lost struct {
	text   string
	unsent bool // the request never reached a server
	final  bool // repeating the request cannot help
	cause  error
}

func (l *lost) Error() string { return l.text }
func (l *lost) Unwrap() error { return l.cause }

// unreachable returns the error of a request without an answer.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if canceled(ctx) {
		return context.Canceled
	}
	if errors.Is(err, context.DeadlineExceeded) {
		text := fmt.Sprintf("%s has not answered within %v%s", c.base, c.Timeout, c.advice("; --timeout allows more"))
		return &lost{text: text, cause: err}
	}
	var inner interface{ Unwrap() error }
	if errors.As(err, &inner) && inner.Unwrap() != nil {
		err = inner.Unwrap() // without the method and URL
	}
	failed, dialing := errors.AsType[*net.OpError](err)
	text := fmt.Sprintf("%s cannot be reached: %v", c.base, err)
	unknown, resolving := errors.AsType[*net.DNSError](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	misnamed, otherName := errors.AsType[x509.HostnameError](err)
	switch {
	case otherName:
		text += "\n" + namesOf(misnamed.Certificate)
	case untrusted:
		text += c.advice("\n--ca names a file with the certificates of the authorities to trust.")
	}
	return &lost{
		text: text, unsent: dialing && failed.Op == "dial", cause: err,
		final: untrusted || alert || resolving && unknown.IsNotFound || errors.Is(err, http.ErrSchemeMismatch),
	}
}

// namesOf lists the names in a server's certificate, for a message.
func namesOf(certificate *x509.Certificate) string {
	const most = 5
	names := slices.Clone(certificate.DNSNames)
	for _, ip := range certificate.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "Its certificate has no subjectAltName, so no name fits it: the server needs one with its name."
	}
	return "Name the server by a name of its certificate: " +
		words.Printable(strings.Join(names[:min(len(names), most)], ", "))
}

// brokenOff returns the error of a truncated answer.
func (c *Client) brokenOff(ctx context.Context, read int64, err error) error {
	switch {
	case canceled(ctx):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		text := fmt.Sprintf("the answer of %s has not ended within %v, after %d bytes%s",
			c.base, c.Timeout, read, c.advice("; --timeout allows more"))
		return &lost{text: text, cause: err}
	}
	return &lost{text: fmt.Sprintf("the answer of %s broke off after %d bytes: %v", c.base, read, err), cause: err}
}

// canceled reports whether the user has canceled the command.
func canceled(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
