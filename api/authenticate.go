package api

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"purser/internal/authn"
	"purser/internal/fault"
	"purser/internal/words"
)

// authenticate identifies the caller of a request by its token or, without one, by the connection's client certificate.
// The certificate is not accepted for changes made by pages of other sites. Headers in which clients name themselves
// are ignored.
func (s *server) authenticate(r *http.Request) (authn.Caller, error) {
	if s.Access.Anonymous { // regardless of the token
		if err := s.checkHost(r); err != nil {
			return authn.Caller{}, err
		}
		if s.fromOtherSite(r) {
			return authn.Caller{}, fault.New(fault.Forbidden, "HTTPForbidden",
				"A page of another site made this change; make it from a page of this server, or without a browser")
		}
		return s.Access.Authenticator.Authenticate(r.Context(), "")
	}
	token, err := tokenOf(r)
	if err != nil {
		return authn.Caller{}, err
	}
	if token == "" && hasCertificate(r) {
		if s.fromOtherSite(r) { // browsers add certificates by themselves
			return authn.Caller{}, fault.New(fault.Forbidden, "HTTPForbidden",
				"A page of another site made this change with the client certificate of its reader; send a token")
		}
		if err := s.Access.Authorities().Check(r.TLS.VerifiedChains, s.Now()); err != nil {
			return authn.Caller{}, err
		}
		return authn.FromCertificate(r.TLS.VerifiedChains[0][0])
	}
	return s.Access.Authenticator.Authenticate(r.Context(), token)
}

// fromOtherSite reports whether a request is a change that a browser makes for a page of another site.
func (s *server) fromOtherSite(r *http.Request) bool { return s.ownPages.Check(r) != nil }

var errTwoTokens = &authn.Rejected{Reason: "two different tokens"}

// tokenOf returns the token of a request, "" if it has none. It may be in both headers, but must then be the same.
func tokenOf(r *http.Request) (token string, err error) {
	for _, sent := range sentTokens(r.Header) {
		if token != "" && sent != token {
			return "", errTwoTokens
		}
		token = sent
	}
	return token, nil
}

func sentTokens(header http.Header) (tokens []string) {
	for _, value := range header.Values("X-Auth-Token") {
		if token := strings.TrimSpace(value); token != "" {
			tokens = append(tokens, token)
		}
	}
	for _, value := range header.Values("Authorization") {
		scheme, token, _ := strings.Cut(value, " ")
		if token = strings.TrimSpace(token); strings.EqualFold(scheme, "Bearer") && token != "" {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// challenge sets WWW-Authenticate and returns the fault of a request that could not be authenticated (RFC 6750 §3).
func (s *server) challenge(w http.ResponseWriter, r *http.Request, err error) error {
	refused, ok := errors.AsType[*authn.Rejected](err)
	if !ok {
		return unstored(r, err) // the issuer does not answer: 503
	}
	infoOf(r).note(refused.Error())
	const realm = `Bearer realm="purser"`
	credential := "token"
	hint, challenge := "The token is unknown, expired, or not meant for this server.", realm+`, error="invalid_token"`
	switch {
	case refused == errTwoTokens:
		hint, challenge = "Authorization and X-Auth-Token hold different tokens.", realm+`, error="invalid_request"`
	case len(sentTokens(r.Header)) == 0 && !hasCertificate(r):
		credential = ""
		hint, challenge = "Send a token: Authorization: Bearer TOKEN, or X-Auth-Token: TOKEN.", realm
	case len(sentTokens(r.Header)) == 0:
		credential = "certificate"
		hint = "The client certificate has expired, was revoked, or does not name a user."
		w.Header().Set("Connection", "close") // a client sends another certificate only on a new connection
	}
	if s.Refused != nil && credential != "" {
		s.Refused(credential)
	}
	w.Header().Set("WWW-Authenticate", challenge)
	f := hintedFault(fault.Unauthenticated, "HTTPUnauthorized", hint)
	if challenge == realm {
		f.Messages[0].Kind = fault.RequestHint
	}
	return f
}

func hasCertificate(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

// ownPages returns the check that a change which a browser sends comes from a page of this server: its Origin, if it
// has one, is the host of the request or that of the public URL, which may be "".
func ownPages(publicURL string) *http.CrossOriginProtection {
	own := http.NewCrossOriginProtection()
	if public, err := url.Parse(publicURL); err == nil && public.Host != "" {
		_ = own.AddTrustedOrigin(public.Scheme + "://" + public.Host) // it has a scheme and a host
	}
	return own
}

// checkHost refuses a request whose Host is not a name or an address of this server. Without authentication, a web page
// could otherwise let its own name resolve to this server (DNS rebinding): browsers would then take it for a page of
// this server and let it read and change everything.
func (s *server) checkHost(r *http.Request) error {
	host := hostOf(r.Host)
	public, err := url.Parse(s.PublicURL)
	if isOwn(host) || isReached(r, host) || err == nil && host != "" && host == hostOf(public.Host) {
		return nil
	}
	return fault.New(fault.Misdirected, "HTTPMisdirectedRequest",
		"Without authentication, this server is only reached as localhost, by the IP address where it listens, or by the "+
			"host of --public-url, and not as '%s'. Start it with --public-url %s://%s, or with --auth",
		words.Excerpt(host), schemeOf(r), words.Excerpt(r.Host))
}

// hostOf returns the host of a host and port, in lower case.
func hostOf(address string) string {
	host := address
	if name, _, err := net.SplitHostPort(address); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// isOwn reports whether a host is always that of the machine where the request was made.
func isOwn(host string) bool {
	address, err := netip.ParseAddr(host)
	address = address.Unmap()
	return host == "localhost" || err == nil && (address.IsLoopback() || address.IsUnspecified())
}

// isReached reports whether a host is the IP address at which the connection of a request arrived, as in probes of a
// container. No name leads a browser to such a host.
func isReached(r *http.Request, host string) bool {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	named, err := netip.ParseAddr(host)
	return at != nil && err == nil && named.Unmap() == at.AddrPort().Addr().Unmap().WithZone("")
}

func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}
