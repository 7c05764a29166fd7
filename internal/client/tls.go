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
		text, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("read the certificates of authorities: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: no PEM certificate found in it", t.CA)
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
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // net/http's own
	transport.TLSClientConfig = config
	return transport, nil
}
