package webhooks

import (
	"net/netip"
	"net/url"
	"testing"
)

func TestParseAllowed(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "*.", "https://a.example", "a.example:443", "a b", "*", "10.0.0.0/33", "*.*.example", "user@a.example"} {
		if _, err := ParseAllowed([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAllowed_check(t *testing.T) {
	t.Parallel()
	names, err := ParseAllowed([]string{"hooks.example", "*.corp.example", "10.1.0.0/16", "fd00::7"})
	if err != nil {
		t.Fatal(err)
	}
	onlyNames, err := ParseAllowed([]string{"hooks.example"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		allowed Allowed
		url     string
		taken   bool
	}{
		{names, "https://hooks.example/x", true},
		{names, "http://HOOKS.example.:8080/x", true},
		{names, "https://a.corp.example/", true},
		{names, "https://corp.example/", true}, // it may resolve to a listed address
		{onlyNames, "https://corp.example/", false},
		{onlyNames, "https://hooks.example.evil/", false},
		{onlyNames, "https://xhooks.example/", false},
		{names, "https://10.1.2.3/", true},
		{names, "https://10.2.2.3/", false},
		{names, "https://[::ffff:10.1.2.3]/", true},
		{names, "https://[fd00::7]/", true},
		{names, "https://[fd00::8]/", false},
		{names, "https://127.0.0.1/", false},
		{names, "ftp://hooks.example/", false},
		{names, "https://user:secret@hooks.example/", false},
		{names, "https:///path", false},
		{onlyNames, "https://2130706433/", false},
		{onlyNames, "https://0x7f.1/", false},
		{onlyNames, "https://[fe80::1%25eth0]/", false},
		{onlyNames, "https://hooks.example@evil.example/", false},
		{names, "https://hooks.example:65535/", true},
		{names, "https://hooks.example:/", true},
		{names, "https://hooks.example:65536/", false},
		{names, "https://hooks.example:99999/", false},
		{names, "https://hooks.example:0/", false},
		{names, "https://10.1.2.3:99999/", false},
		{Allowed{}, "https://hooks.example/", false},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.allowed.check(u); (err == nil) != c.taken {
			t.Errorf("%s: %v", c.url, err)
		}
	}
}

// The address of a name is checked at each connection: a listed name must not resolve to this machine or its
// link, and one that is not leads to listed addresses alone.
func TestAllowed_checkAddress(t *testing.T) {
	t.Parallel()
	allowed, err := ParseAllowed([]string{"hooks.example", "*.corp.example", "10.1.0.0/16", "127.0.0.2"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, address string
		taken         bool
	}{
		{"hooks.example", "203.0.113.9", true},
		{"hooks.example", "192.168.1.1", true},
		{"hooks.example", "127.0.0.1", false},
		{"hooks.example", "127.0.0.2", true}, // which is listed
		{"hooks.example", "::1", false},
		{"hooks.example", "::ffff:127.0.0.1", false},
		{"hooks.example", "169.254.169.254", false},
		{"hooks.example", "fe80::1%eth0", false},
		{"hooks.example", "0.0.0.0", false},
		{"hooks.example", "::", false},
		{"hooks.example", "224.0.0.1", false},
		{"hooks.example", "0.1.2.3", false},
		{"hooks.example", "64:ff9b::7f00:1", false},    // 127.0.0.1 by NAT64
		{"hooks.example", "64:ff9b::a9fe:a9fe", false}, // 169.254.169.254
		{"hooks.example", "2002:7f00:1::", false},      // 127.0.0.1 by 6to4
		{"hooks.example", "::7f00:1", false},
		{"hooks.example", "64:ff9b::cb00:7109", true}, // 203.0.113.9
		{"hooks.example", "2001:db8::7f00:1", true},
		{"a.corp.example", "203.0.113.9", true},
		{"other.example", "203.0.113.9", false},
		{"other.example", "10.1.2.3", true},
		{"other.example", "::ffff:10.1.2.3", true},
		{"10.1.2.3", "10.1.2.3", true},
	} {
		if err := allowed.checkAddress(c.host, netip.MustParseAddr(c.address)); (err == nil) != c.taken {
			t.Errorf("%s at %s: %v", c.host, c.address, err)
		}
	}
}
