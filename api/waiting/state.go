package waiting

import (
	"context"
	"net/http"
	"time"
)

// State is what the handler of a request that may wait and the wait tell each other.
type State struct {
	Decides bool          // the handler sets Pending to keep waiting; otherwise a 304 keeps waiting
	Pending bool          // it is
	Pinned  string        // the subject of the request, if its URL may come to mean another one
	Fresh   time.Duration // how long the answer lasts if nothing changes; 0: for ever
}

type stateKey struct{}

// withState returns a request with its state.
func withState(r *http.Request, o *State) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), stateKey{}, o))
}

// Of returns the state of a request.
func Of(r *http.Request) *State {
	if o, ok := r.Context().Value(stateKey{}).(*State); ok {
		return o
	}
	return &State{}
}

// isPending reports whether the request should keep waiting after an answer with this status.
func (o *State) isPending(status int) bool {
	if o.Decides {
		return o.Pending
	}
	return status == http.StatusNotModified
}
