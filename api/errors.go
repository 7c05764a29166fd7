package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"purser/internal/fault"
	"purser/internal/revisions"
)

// statusOf returns the status code of a kind of fault.
func statusOf(kind fault.Kind) int {
	switch kind {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Gone:
		return http.StatusGone
	case fault.Conflict:
		return http.StatusConflict
	case fault.Stale:
		return http.StatusPreconditionFailed
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.Throttled:
		return http.StatusTooManyRequests
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Timeout:
		return http.StatusRequestTimeout
	case fault.UnsupportedType:
		return http.StatusUnsupportedMediaType
	case fault.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case fault.Unimplemented:
		return http.StatusNotImplemented
	case fault.Misdirected:
		return http.StatusMisdirectedRequest
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.Internal:
	}
	return http.StatusInternalServerError
}

// envelope is the body of every error. Clients expect these keys and no others.
type envelope struct {
	APIVersion string          `json:"apiVersion"`
	Code       string          `json:"code"`
	Details    envelopeDetails `json:"details"`
	Kind       string          `json:"kind"`
	Message    *string         `json:"message"`
	Metadata   map[string]any  `json:"metadata"`
	Reason     string          `json:"reason"`
	Retry      bool            `json:"retry"`
	Status     string          `json:"status"`
}

type envelopeDetails struct {
	ErrorCount  int    `json:"errorCount"`
	ErrorType   string `json:"errorType"`
	MessageList []any  `json:"messageList"`
}

// plainMessage is the only item of the message list if a fault has no Messages.
type plainMessage struct {
	Error   bool    `json:"error"`
	Message *string `json:"message"`
}

func envelopeOf(r *http.Request, f *fault.Fault) (envelope, int) {
	status := statusOf(f.Kind)
	e := envelope{
		APIVersion: apiVersion(r.URL.Path),
		Code:       fmt.Sprintf("%d %s", status, http.StatusText(status)),
		Details:    envelopeDetails{ErrorType: f.Type},
		Kind:       "Status",
		Metadata:   f.Metadata,
		Reason:     "Unspecified",
		Retry:      status == http.StatusInternalServerError,
		Status:     "Failure",
	}
	if e.Metadata == nil {
		e.Metadata = map[string]any{}
	}
	if f.Message != "" {
		e.Message = &f.Message
	}
	if f.Reason != "" {
		e.Reason = f.Reason
	}
	e.Details.MessageList = messageList(f)
	e.Details.ErrorCount = len(e.Details.MessageList)
	return e, status
}

// messageList returns the messages of a fault, as every error lists them.
func messageList(f *fault.Fault) (list []any) {
	for _, message := range f.Messages {
		message.Path, message.Unlisted = "", 0 // clients know messages by exactly their keys; findings show these
		list = append(list, message)
	}
	if len(list) == 0 {
		plain := plainMessage{Error: true}
		if f.Message != "" {
			plain.Message = &f.Message
		}
		list = []any{plain}
	}
	return list
}

// apiVersion returns the first part of a path that looks like a version.
func apiVersion(path string) string {
	below, _ := strings.CutPrefix(path, "/api/")
	for part := range strings.SplitSeq(below, "/") {
		if strings.HasPrefix(part, "v") && strings.Contains(part, ".") {
			return part
		}
	}
	return "N/A"
}

// fail answers with an error. Errors other than faults are logged, but not shown in the answer.
func (a *answerWriter) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, r.Context().Err()) {
		infoOf(r).note("client went away")
		w.WriteHeader(statusClientGone)
		return
	}
	var f *fault.Fault
	if !errors.As(err, &f) {
		f = fault.New(fault.Internal, "InternalError",
			"The server failed; its log has the reason under the request id in this answer's X-Deckhand-Req")
	}
	secret := f.Secret
	if f = infoOf(r).viewer.Fault(f); !secret && (f.Kind == fault.Internal || f.Kind == fault.Unavailable) {
		infoOf(r).note(fullText(err, f))
	} else {
		infoOf(r).note(f.Type) // the message may quote the request
	}
	if stale, ok := errors.AsType[*revisions.Stale](err); ok {
		setHeadTag(w, stale.Head.Revision, stale.Head.Stamp)
	}
	if f.NothingStored {
		w.Header().Set("Purser-Stored", "no")
	}
	if f.RetryAfter > 0 {
		setRetryAfter(w, f.RetryAfter)
	}
	infoOf(r).errorType = f.Type
	body, status := envelopeOf(r, f)
	a.write(w, r, status, body)
}

// statusClientGone is the status to log when the client closed the connection before it was answered.
const statusClientGone = 499

// fullText returns the text of an error with the cause of its fault, which answers do not show.
func fullText(err error, f *fault.Fault) string {
	if cause := f.Unwrap(); cause != nil {
		return fmt.Sprintf("%v: %v", err, cause)
	}
	return err.Error()
}

// hintedFault returns a fault without a message, as in Deckhand, but with a hint in its message list.
func hintedFault(kind fault.Kind, errorType, hint string) *fault.Fault {
	f := fault.New(kind, errorType, "")
	f.Messages = []fault.Message{{Message: hint, Error: true}}
	return f
}

// unstored adds to the fault of a request that was not begun that nothing was stored, unless the request only reads.
// Clients can then retry the change.
func unstored(r *http.Request, err error) error {
	f, isFault := errors.AsType[*fault.Fault](err)
	if !isFault || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return err
	}
	said := *f
	said.Message += "; nothing was stored"
	return said.Unstored()
}

func setRetryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(wait.Seconds()))))
}
