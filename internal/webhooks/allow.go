package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Allowed is where webhooks may call: hosts by name, names below a domain, and addresses. The zero Allowed is nowhere.
type Allowed struct {
	names    []string
	suffixes []string // with the dot
	networks []netip.Prefix
}

// ParseAllowed reads host names, domains (*.example) and CIDRs.
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
			return a, fmt.Errorf("%q is no host name, no *.domain and no CIDR", item)
		}
	}
	return a, nil
}

func isName(text string) bool { return text != "" && !strings.ContainsAny(text, "*/: @?#%") }

// IsZero reports whether nothing is allowed.
func (a Allowed) IsZero() bool { return len(a.names)+len(a.suffixes)+len(a.networks) == 0 }

// named reports whether a host is allowed by its name.
func (a Allowed) named(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return slices.Contains(a.names, host) ||
		slices.ContainsFunc(a.suffixes, func(suffix string) bool { return strings.HasSuffix(host, suffix) })
}

// holds reports whether an address is in an allowed network.
func (a Allowed) holds(address netip.Addr) bool {
	return slices.ContainsFunc(a.networks, func(network netip.Prefix) bool { return network.Contains(address) })
}

// check says why a URL cannot be called. A name that is not listed may stand for an address that is: that shows when it
// is dialled.
func (a Allowed) check(u *url.URL) error {
	host := u.Hostname()
	address, err := netip.ParseAddr(host)
	switch {
	case u.Scheme != "http" && u.Scheme != "https", host == "", u.User != nil, u.Fragment != "":
		return errors.New("it must be an http or https URL without a user and a fragment")
	case err == nil && !a.holds(address.Unmap()), err != nil && !a.named(host) && len(a.networks) == 0:
		return fmt.Errorf("--webhook-allow of the server does not list %s", host)
	}
	return nil
}

// checkAddress says why an address cannot be dialled for a host. What is allowed by its name may not lead to this
// machine or its link: only who lists such an address means it.
func (a Allowed) checkAddress(host string, address netip.Addr) error {
	address = address.Unmap().WithZone("")
	special := address.IsLoopback() || address.IsLinkLocalUnicast() || address.IsMulticast() || address.IsUnspecified()
	if a.holds(address) || a.named(host) && !special {
		return nil
	}
	return fmt.Errorf("%s leads to %s, which --webhook-allow of the server does not list", host, address)
}

// dial connects to a host. The address is checked once the name is resolved, right before it is connected to: what the
// name stands for at another time makes no difference.
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
	return dialer.DialContext(ctx, network, target) //nolint:wrapcheck // it says what it does
}
