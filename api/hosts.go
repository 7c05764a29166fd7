package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"purser/internal/fault"
	"purser/internal/words"
)

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
