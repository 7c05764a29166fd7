package api

import (
	"net/http"
	"slices"
	"strings"

	"purser/internal/fault"
)

// dispatch authorizes a request, checks its parameters and calls the handler of its method. Unknown methods get 405,
// and OPTIONS lists the known ones.
func (s *server) dispatch(of methods) http.HandlerFunc {
	allow, fallback := allowHeader(of), fallbackRule(of)
	return func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // net/http omits the body
		}
		called, ok := of[method]
		if !ok {
			called = route{rule: fallback, handle: methodNotAllowed(method, allow)}
		}
		infoOf(r).parameters = called.parameters
		err := s.authorize(w, r, called.rule)
		if called.rule != public {
			r = s.withOwner(r)
		}
		if err == nil && ok {
			err = checkOpen(r, called)
		}
		if err == nil && ok {
			err = checkParameters(r, called.parameters, s.Compat && isReading(r.Method))
		}
		if err == nil {
			err = s.answer(w, r, called)
		}
		if err != nil {
			s.answers.fail(w, r, s.withHolders(r, err))
		}
	}
}

// answer calls the handler of a route, which may wait.
func (s *server) answer(w http.ResponseWriter, r *http.Request, of route) error {
	isDeckhands := of.path != eventsPath && !strings.HasSuffix(of.path, "/status")
	switch {
	case !slices.Contains(of.parameters, waitParameter), of.method == http.MethodPost: // which waits by itself
		return attempt(of.handle, w, r)
	case s.Compat && isDeckhands: // Deckhand ignores the parameter
		return attempt(of.handle, w, withoutWait(r))
	}
	return s.answerWaiting(w, r, of.handle)
}

// attempt calls a handler, and once more if a revision that was requested as latest or by a tag was pruned between
// resolving and reading it. A body cannot be read again.
func attempt(handle handler, w http.ResponseWriter, r *http.Request) error {
	err := handle(w, r)
	named := strings.Contains(r.URL.Path, "/latest") || strings.Contains(r.URL.Path, "/tag:")
	if named && r.ContentLength == 0 && fault.KindOf(err) == fault.Gone {
		return handle(w, r)
	}
	return err
}

// allowHeader lists the methods of a path.
func allowHeader(of methods) string {
	list := []string{http.MethodOptions}
	for method := range of {
		list = append(list, method)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// fallbackRule returns the rule for the methods that a path does not support: public if all its methods are public.
func fallbackRule(of methods) string {
	for _, route := range of {
		if route.rule != public {
			return authenticated
		}
	}
	return public
}

// methodNotAllowed returns the handler of a method that a path does not support.
func methodNotAllowed(method, allow string) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Allow", allow)
		if method == http.MethodOptions {
			w.WriteHeader(http.StatusOK)
			return nil
		}
		return hintedFault(fault.MethodNotAllowed, "HTTPMethodNotAllowed", "This path takes "+allow+".")
	}
}

func errNoRoute(r *http.Request) error {
	hint := "/openapi.yaml lists all paths"
	if infoOf(r).everywhere {
		hint = "only " + everywhere[:len(everywhere)-1] + v1 + "/claims and " + everywhere[:len(everywhere)-1] + v1 +
			"/waivers are about all sites"
	}
	path := strings.TrimPrefix(r.URL.Path, v1)
	if schema, ok := strings.CutPrefix(path, "/schemas"); ok && (schema == "" || schema[0] == '/') {
		hint = "schemas belong to a revision: " + v1 + "/revisions/{revision}/schemas lists them, and " +
			v1 + "/revisions/{revision}/schemas/{namespace}/{kind}/{version}/docs is a page about one"
	}
	at := infoOf(r).prefix + r.URL.Path
	return hintedFault(fault.NotFound, "HTTPRouteNotFound", "There is nothing at "+at+"; "+hint+".")
}
