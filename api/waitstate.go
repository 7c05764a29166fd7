package api

import (
	"context"
	"net/http"
	"time"
)

// waitState is what the handler of a request that may wait and the wait tell each other.
type waitState struct {
	decides bool          // the handler decides by Pending whether the request keeps waiting; otherwise it does with a 304
	pending bool          // keep waiting, if the handler decides
	pinned  string        // the subject of the request, if its URL may come to mean another one
	fresh   time.Duration // how long the answer lasts if nothing changes; 0: for ever
}

type stateKey struct{}

// withState returns a request with its state.
func withState(r *http.Request, s *waitState) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), stateKey{}, s))
}

// waitStateOf returns the state of a request.
func waitStateOf(r *http.Request) *waitState {
	if s, ok := r.Context().Value(stateKey{}).(*waitState); ok {
		return s
	}
	return &waitState{}
}

// isPending reports whether the request should keep waiting after an answer with this status.
func (s *waitState) isPending(status int) bool {
	if s.decides {
		return s.pending
	}
	return status == http.StatusNotModified
}
