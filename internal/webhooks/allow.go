package webhooks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"purser/internal/words"
)

// Allowed is the set of hosts that webhooks may call: host names, domains and networks. The zero Allowed is empty.
type Allowed struct {
	names    []string
	suffixes []string // with a leading dot
	networks []netip.Prefix
}

// ParseAllowed parses host names, domains (*.example) and CIDRs.
func ParseAllowed(list []string) (a Allowed, err error) {
	for _, item := range list {
		item = strings.ToLower(strings.TrimSpace(item))
		network, notNetwork := netip.ParsePrefix(item)
		address, notAddress := netip.ParseAddr(item)
		switch {
		case notNetwork == nil:
			a.networks = append(a.networks, network.Masked())
		case notAddress == nil:
			a.networks = append(a.networks, netip.PrefixFrom(address, address.BitLen()))
		case strings.HasPrefix(item, "*.") && isName(item[2:]):
			a.suffixes = append(a.suffixes, item[1:])
		case isName(item):
			a.names = append(a.names, item)
		default:
			return a, fmt.Errorf("%q is not a host name, a *.domain or a CIDR", item)
		}
	}
	return a, nil
}

func isName(text string) bool { return text != "" && !strings.ContainsAny(text, "*/: @?#%") }

// IsZero reports whether no host is allowed.
func (a Allowed) IsZero() bool { return len(a.names)+len(a.suffixes)+len(a.networks) == 0 }

// named reports whether a host is allowed by name.
func (a Allowed) named(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return slices.Contains(a.names, host) ||
		slices.ContainsFunc(a.suffixes, func(suffix string) bool { return strings.HasSuffix(host, suffix) })
}

// holds reports whether an allowed network contains an address.
func (a Allowed) holds(address netip.Addr) bool {
	return slices.ContainsFunc(a.networks, func(network netip.Prefix) bool { return network.Contains(address) })
}

// check returns an error if a URL must not be called. A host name that is not listed may still resolve to an allowed
// address, which checkAddress finds out.
func (a Allowed) check(u *url.URL) error {
	host := u.Hostname()
	address, err := netip.ParseAddr(host)
	switch {
	case u.Scheme != "http" && u.Scheme != "https", host == "", u.User != nil, u.Fragment != "":
		return errors.New("it must be an http or https URL without a user and a fragment")
	case !isPort(u.Port()):
		return fmt.Errorf("there is no port %s; ports are from 1 to %d", words.Excerpt(u.Port()), math.MaxUint16)
	case err == nil && !a.holds(address.Unmap()), err != nil && !a.named(host) && len(a.networks) == 0:
		return fmt.Errorf("--webhook-allow of the server does not list %s", host)
	}
	return nil
}

// isPort reports whether a URL can have a port; an empty one is that of the scheme.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && port > 0
}

// checkAddress returns an error if an address must not be dialled for a host. A name alone does not allow special
// addresses; these must be listed themselves.
func (a Allowed) checkAddress(host string, address netip.Addr) error {
	address = address.Unmap().WithZone("")
	if a.holds(address) || a.named(host) && !isSpecial(address) && !isSpecial(embedded(address)) {
		return nil
	}
	return fmt.Errorf("%s leads to %s, which --webhook-allow of the server does not list", host, address)
}

// isSpecial reports whether an address is one of this machine or its link, or of more than one machine.
func isSpecial(address netip.Addr) bool {
	thisNetwork := netip.PrefixFrom(netip.IPv4Unspecified(), 8)
	return address.IsLoopback() || address.IsLinkLocalUnicast() || address.IsMulticast() || address.IsUnspecified() ||
		thisNetwork.Contains(address)
}

// embedded returns the IPv4 address within an IPv6 address of NAT64 (RFC 6052, 64:ff9b::/96) or 6to4 (RFC 3056,
// 2002::/16), or within an IPv4-compatible one (RFC 4291 §2.5.5.1, ::/96); the zero Addr if there is none.
func embedded(address netip.Addr) netip.Addr {
	if !address.Is6() {
		return netip.Addr{}
	}
	const nat64, sixToFour, size = 12, 2, 4
	bytes := address.As16()
	prefix := [nat64]byte(bytes[:])
	switch {
	case prefix == [nat64]byte{}, prefix == [nat64]byte{0x00, 0x64, 0xff, 0x9b}:
		return netip.AddrFrom4([size]byte(bytes[nat64:]))
	case prefix[0] == 0x20 && prefix[1] == 0x02:
		return netip.AddrFrom4([size]byte(bytes[sixToFour:]))
	}
	return netip.Addr{}
}

// dial connects to a host. It checks the resolved address right before it connects, so that a name that resolves to
// something else later makes no difference.
func (a Allowed) dial(ctx context.Context, network, target string) (net.Conn, error) {
	const patience = 5 * time.Second
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	dialer := net.Dialer{Timeout: patience, Control: func(_, resolved string, _ syscall.RawConn) error {
		address, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return fmt.Errorf("read the address of %s: %w", host, err)
		}
		return a.checkAddress(host, address.Addr())
	}}
	return dialer.DialContext(ctx, network, target)
}
