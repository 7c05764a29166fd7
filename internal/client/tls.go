package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
)

// TLS has the names of the files for TLS connections, in PEM form.
type TLS struct {
	CA          string // of the trusted authorities; "" for the system's
	Certificate string // of the client; "" if there is none
	Key         string
}

// transport returns a transport that uses the proxies of the environment.
func (t TLS) transport() (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		config.RootCAs = x509.NewCertPool()
		if err := t.addTo(config.RootCAs); err != nil {
			return nil, err
		}
	}
	if (t.Certificate == "") != (t.Key == "") {
		return nil, errors.New("a client certificate needs its key, and a key its certificate: give --cert and --key")
	}
	if t.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, fmt.Errorf("the client certificate %s with the key %s: %w", t.Certificate, t.Key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return transportWith(config), nil
}

// transportWith returns a transport that uses the proxies of the environment.
func transportWith(config *tls.Config) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // net/http's own
	transport.TLSClientConfig = config
	transport.MaxIdleConnsPerHost = transport.MaxIdleConns // several requests at once are to the same server
	return transport
}

// addTo adds the authorities of CA to others.
func (t TLS) addTo(pool *x509.CertPool) error {
	text, err := os.ReadFile(t.CA)
	if err != nil {
		return fmt.Errorf("read the certificates of authorities: %w", err)
	}
	if !pool.AppendCertsFromPEM(text) {
		return fmt.Errorf("%s: no PEM certificate found in it", t.CA)
	}
	return nil
}

// BesideSystem returns a transport, without a client certificate, that trusts the system's authorities and those of CA.
func (t TLS) BesideSystem() (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA == "" {
		return transportWith(config), nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificates of authorities: %w", err)
	}
	config.RootCAs = roots
	return transportWith(config), t.addTo(roots)
}
