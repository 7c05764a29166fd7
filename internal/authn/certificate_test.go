package authn

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

// authority signs certificates and lists of revoked ones.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newAuthority(t *testing.T, name string, signer *authority) *authority {
	t.Helper()
	a := &authority{}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if signer == nil {
		signer = a
	}
	a.certificate = signer.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: epoch.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}, a.key)
	return a
}

func (a *authority) sign(t *testing.T, template *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	parent := a.certificate
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func (a *authority) client(t *testing.T, serial int64, until time.Duration) *x509.Certificate {
	t.Helper()
	return a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "anna"}, NotAfter: epoch.Add(until),
	}, a.key)
}

// list returns a list of revoked certificates as PEM.
func (a *authority) list(t *testing.T, until time.Duration, serials ...int64) string {
	t.Helper()
	template := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: epoch.Add(-time.Hour), NextUpdate: epoch.Add(until)}
	for _, serial := range serials {
		template.RevokedCertificateEntries = append(template.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: big.NewInt(serial), RevocationTime: epoch})
	}
	der, err := x509.CreateRevocationList(rand.Reader, template, a.certificate, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
}

func (a *authority) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}))
}

func TestAuthorities_Check(t *testing.T) {
	t.Parallel()
	root, other := newAuthority(t, "root", nil), newAuthority(t, "other", nil)
	between := newAuthority(t, "between", root)
	seven, eight := root.client(t, 7, time.Minute), root.client(t, 8, time.Minute)
	below := between.client(t, 7, time.Minute)
	chain := func(certificates ...*x509.Certificate) []*x509.Certificate { return certificates }
	for name, c := range map[string]struct {
		certificates, lists string
		chains              [][]*x509.Certificate
		want                string // part of the reason; "" if the certificate is good
	}{
		"good":                         {root.pem(), "", [][]*x509.Certificate{chain(seven, root.certificate)}, ""},
		"another is revoked":           {root.pem(), root.list(t, time.Hour, 8), [][]*x509.Certificate{chain(seven, root.certificate)}, ""},
		"revoked":                      {root.pem(), root.list(t, time.Hour, 8, 7), [][]*x509.Certificate{chain(seven, root.certificate)}, "revoked"},
		"revoked by one of two lists":  {root.pem(), root.list(t, time.Hour, 8) + root.list(t, time.Hour, 7), [][]*x509.Certificate{chain(seven, root.certificate)}, "revoked"},
		"the list has expired":         {root.pem(), root.list(t, -time.Second, 7), [][]*x509.Certificate{chain(eight, root.certificate)}, "list of the authority has expired"},
		"a newer list is valid":        {root.pem(), root.list(t, -time.Second) + root.list(t, time.Hour, 8), [][]*x509.Certificate{chain(seven, root.certificate)}, ""},
		"an authority was removed":     {other.pem(), "", [][]*x509.Certificate{chain(seven, root.certificate)}, "no longer among"},
		"expired":                      {root.pem(), "", [][]*x509.Certificate{chain(root.client(t, 9, -time.Second), root.certificate)}, "expired"},
		"of an authority below":        {root.pem(), "", [][]*x509.Certificate{chain(below, between.certificate, root.certificate)}, ""},
		"its number at another one":    {root.pem(), root.list(t, time.Hour, 7), [][]*x509.Certificate{chain(below, between.certificate, root.certificate)}, ""},
		"the one below is revoked":     {root.pem(), root.list(t, time.Hour, 1), [][]*x509.Certificate{chain(below, between.certificate, root.certificate)}, "revoked"},
		"revoked by the one below":     {root.pem() + between.pem(), between.list(t, time.Hour, 7), [][]*x509.Certificate{chain(below, between.certificate)}, "revoked"},
		"one of two chains is good":    {root.pem(), "", [][]*x509.Certificate{chain(seven, other.certificate), chain(seven, root.certificate)}, ""},
		"there is no chain":            {root.pem(), "", nil, "no chain"},
		"text around the certificates": {"# ours\n" + root.pem() + "\n", "# none\n" + root.list(t, time.Hour), [][]*x509.Certificate{chain(seven, root.certificate)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			authorities, err := ParseAuthorities([]byte(c.certificates), []byte(c.lists))
			if err != nil {
				t.Fatal(err)
			}
			err = authorities.Check(c.chains, epoch)
			if c.want != "" {
				wantRejected(t, err, c.want, "")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseAuthorities_refuses(t *testing.T) {
	t.Parallel()
	root, other := newAuthority(t, "root", nil), newAuthority(t, "other", nil)
	broken := pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: []byte("x")})
	for name, c := range map[string]struct{ certificates, lists, want string }{
		"no certificate":      {"", "", "no certificate of an authority"},
		"a broken one":        {string(bytes.ReplaceAll(broken, []byte("X509 CRL"), []byte("CERTIFICATE"))), "", "certificate of an authority"},
		"a broken list":       {root.pem(), string(broken), "read a certificate revocation list"},
		"no list":             {root.pem(), root.pem(), "must be PEM"},
		"a list of another":   {root.pem(), other.list(t, time.Hour), "CN=other is signed by none"},
		"a list of no issuer": {root.pem(), "\x30\x82", "must be PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := ParseAuthorities([]byte(c.certificates), []byte(c.lists)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
