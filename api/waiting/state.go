package waiting

import (
	"context"
	"net/http"
	"time"
)

// State is what the handler of a request that may wait and the wait tell each other.
type State struct {
	Decides bool          // the handler decides by Pending whether the request keeps waiting; otherwise it does with a 304
	Pending bool          // keep waiting, if the handler decides
	Pinned  string        // the subject of the request, if its URL may come to mean another one
	Fresh   time.Duration // how long the answer lasts if nothing changes; 0: for ever
}

type stateKey struct{}

// withState returns a request with its state.
func withState(r *http.Request, s *State) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), stateKey{}, s))
}

// Of returns the state of a request.
func Of(r *http.Request) *State {
	if s, ok := r.Context().Value(stateKey{}).(*State); ok {
		return s
	}
	return &State{}
}

// isPending reports whether the request should keep waiting after an answer with this status.
func (s *State) isPending(status int) bool {
	if s.Decides {
		return s.Pending
	}
	return status == http.StatusNotModified
}
