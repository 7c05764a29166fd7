package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
)

// outgoingFlags configure the connections that the server makes to others.
type outgoingFlags struct {
	OutgoingCA string `name:"outgoing-ca" help:"Certificate authorities, as PEM, to trust besides the system's when the server calls Keystone, the issuer of OpenID Connect and webhooks." type:"path" placeholder:"FILE"` //nolint:lll // a tag
}

// roots returns the authorities to trust; nil are the system's.
func (f outgoingFlags) roots() (*x509.CertPool, error) {
	if f.OutgoingCA == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.OutgoingCA)
	if err != nil {
		return nil, fmt.Errorf("--outgoing-ca: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificate authorities: %w", err)
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--outgoing-ca: %s has no certificate in PEM", f.OutgoingCA)
	}
	return roots, nil
}

// transport returns a transport that trusts these authorities.
func (f outgoingFlags) transport() (http.RoundTripper, error) {
	roots, err := f.roots()
	if err != nil || roots == nil {
		return http.DefaultTransport, err
	}
	own := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	own.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return own, nil
}
