package authn

import (
	"crypto/x509"
	"strings"
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
