package authn

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// rolePrefix marks the organizational units that are roles. Units without it, which certificates have for many reasons,
// grant no role.
const rolePrefix = "role:"

// FromCertificate returns the caller that a client certificate identifies; Authorities.Check says whether it is good.
//
// The user is the subject's common name, or else the first URI, or else the first DNS name. The roles are the
// organizational units of the form role:NAME, as in policies: OU=role:admin. An error is a *Rejected.
func FromCertificate(certificate *x509.Certificate) (Caller, error) {
	user := userOf(certificate)
	caller := Caller{UserID: user, UserName: user}
	for _, unit := range certificate.Subject.OrganizationalUnit {
		if role, ok := strings.CutPrefix(unit, rolePrefix); ok && role != "" {
			caller.Roles = append(caller.Roles, role)
		}
	}
	return checkCaller(caller)
}

func userOf(certificate *x509.Certificate) string {
	switch {
	case certificate.Subject.CommonName != "":
		return certificate.Subject.CommonName
	case len(certificate.URIs) > 0:
		return certificate.URIs[0].String()
	case len(certificate.DNSNames) > 0:
		return certificate.DNSNames[0]
	}
	return ""
}

// Authorities are the authorities of client certificates, with the certificates that they have revoked. The value is
// immutable.
type Authorities struct {
	Pool *x509.CertPool

	known   map[digest]bool          // the authorities' certificates
	revoked map[string][]*revocation // by the issuer's name
}

type digest = [sha256.Size]byte

// revocation is a list of revoked certificates.
type revocation struct {
	serials map[string]bool
	until   time.Time
}

// ParseAuthorities reads the certificates of authorities and the lists of certificates that they have revoked, both as
// PEM. Each list must be signed by one of the authorities.
func ParseAuthorities(certificates, lists []byte) (*Authorities, error) {
	a := &Authorities{Pool: x509.NewCertPool(), known: map[digest]bool{}, revoked: map[string][]*revocation{}}
	var all []*x509.Certificate
	for _, der := range blocks(certificates, "CERTIFICATE") {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("read the certificate of an authority: %w", err)
		}
		a.Pool.AddCert(certificate)
		a.known[sha256.Sum256(certificate.Raw)] = true
		all = append(all, certificate)
	}
	if len(all) == 0 {
		return nil, errors.New("no certificate of an authority is given")
	}
	found := blocks(lists, "X509 CRL")
	if len(found) == 0 && len(bytes.TrimSpace(lists)) > 0 {
		return nil, errors.New("no certificate revocation list is given; it must be PEM: openssl crl -inform DER -in FILE")
	}
	for _, der := range found {
		if err := a.revoke(der, all); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *Authorities) revoke(der []byte, all []*x509.Certificate) error {
	list, err := x509.ParseRevocationList(der)
	if err != nil {
		return fmt.Errorf("read a certificate revocation list: %w", err)
	}
	by := slices.IndexFunc(all, func(c *x509.Certificate) bool { return list.CheckSignatureFrom(c) == nil })
	if by < 0 {
		return fmt.Errorf("the certificate revocation list of %s is signed by none of the authorities", list.Issuer)
	}
	r := &revocation{serials: map[string]bool{}, until: list.NextUpdate}
	for _, entry := range list.RevokedCertificateEntries {
		r.serials[entry.SerialNumber.String()] = true
	}
	issuer := string(all[by].RawSubject)
	a.revoked[issuer] = append(a.revoked[issuer], r)
	return nil
}

// blocks returns the PEM blocks of a type.
func blocks(text []byte, kind string) (found [][]byte) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return found
		}
		if block.Type == kind {
			found = append(found, block.Bytes)
		}
	}
}

// Check returns an error unless one of the chains of a certificate, which were verified when its connection began, is
// still good: its authority is still known, and nothing in it has expired or been revoked. A connection can outlive all
// of that. The error is a *Rejected.
func (a *Authorities) Check(chains [][]*x509.Certificate, now time.Time) error {
	err := rejected("no chain of certificates was verified")
	for _, chain := range chains {
		if err = a.checkChain(chain, now); err == nil {
			return nil
		}
	}
	return err
}

func (a *Authorities) checkChain(chain []*x509.Certificate, now time.Time) error {
	if !a.known[sha256.Sum256(chain[len(chain)-1].Raw)] {
		return rejected("the authority of the certificate is no longer among those of --tls-client-ca")
	}
	for i, certificate := range chain {
		if now.Before(certificate.NotBefore) || now.After(certificate.NotAfter) {
			return rejected("the certificate, or that of its authority, has expired or is not yet valid")
		}
		if i == len(chain)-1 {
			break // an authority does not revoke itself
		}
		lists, valid := a.revoked[string(certificate.RawIssuer)], false
		for _, list := range lists {
			if list.serials[certificate.SerialNumber.String()] {
				return rejected("the certificate has been revoked")
			}
			valid = valid || list.until.IsZero() || !now.After(list.until)
		}
		if len(lists) > 0 && !valid {
			return rejected("the certificate revocation list of the authority has expired")
		}
	}
	return nil
}
