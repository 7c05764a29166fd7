package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// tlsFlags say how connections are protected.
type tlsFlags struct {
	TLSCert     string `name:"tls-cert"      help:"Certificate to serve with over TLS, and those between it and its authority, as PEM; read again when it changes." type:"path"` //nolint:lll // a tag
	TLSKey      string `name:"tls-key"       help:"Its private key, as PEM." type:"path"`
	TLSClientCA string `name:"tls-client-ca" help:"Authorities of client certificates, as PEM. Who shows such a certificate needs no token: CN is the user, each OU=role:NAME a role." type:"path"` //nolint:lll // a tag
}

func (f *tlsFlags) validate() error {
	if (f.TLSCert == "") != (f.TLSKey == "") || f.TLSClientCA != "" && f.TLSCert == "" {
		return errors.New("--tls-cert and --tls-key go together, and --tls-client-ca needs both")
	}
	return nil
}

// openTLS reads the certificates; nil without any.
func (f *tlsFlags) openTLS(log *slog.Logger) (*tls.Config, error) {
	if f.TLSCert == "" {
		return nil, nil
	}
	c := &certificates{tlsFlags: *f, log: log}
	if err := c.load(c.read()); err != nil {
		return nil, fmt.Errorf("read the certificates: %w", err)
	}
	c.looked = time.Now()
	base := c.current.Load().Clone()
	base.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.config(), nil }
	return base, nil
}

// certificates are those that connections are opened with. They are read again when one of their files has changed.
type certificates struct {
	tlsFlags

	log     *slog.Logger
	current atomic.Pointer[tls.Config]

	looking sync.Mutex // only ever tried; held by who looks at the files
	looked  time.Time
	texts   [3][]byte // those in use
	problem string    // that was logged last, empty if there is none
}

// lookEvery is how often the files are looked at, at most.
const lookEvery = time.Second

// config is what the next connection is opened with.
func (c *certificates) config() *tls.Config {
	if c.looking.TryLock() {
		defer c.looking.Unlock()
		c.look()
	}
	return c.current.Load()
}

// look reads the files, whose texts are compared: tools that renew certificates replace links and keep times.
func (c *certificates) look() {
	if time.Since(c.looked) < lookEvery {
		return
	}
	c.looked = time.Now()
	texts, err := c.read()
	if err == nil && equal(texts, c.texts) {
		c.problem = ""
		return
	}
	if err := c.load(texts, err); err != nil {
		if c.problem != err.Error() {
			c.problem = err.Error()
			c.log.Error("the certificates have changed and cannot be used; those from before go on to be", "error", c.problem)
		}
		return
	}
	c.problem = ""
	c.log.Info("the certificates have changed; new connections use them", "path", c.TLSCert)
}

func equal(a, b [3][]byte) bool {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (c *certificates) read() (texts [3][]byte, err error) {
	for i, path := range []string{c.TLSCert, c.TLSKey, c.TLSClientCA} {
		if path == "" {
			continue
		}
		if texts[i], err = os.ReadFile(path); err != nil { //nolint:gosec // whoever starts the server says which file
			return texts, err //nolint:wrapcheck // it names the path and what was done
		}
	}
	return texts, nil
}

// load makes what was read count for connections from now on. While a certificate and its key are being replaced, one
// after the other, they do not fit; that is found out again at each look.
func (c *certificates) load(texts [3][]byte, err error) error {
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	if err != nil {
		return fmt.Errorf("%s and %s: %w", c.TLSCert, c.TLSKey, err)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		CipherSuites: forwardSecret(),
	}
	if c.TLSClientCA != "" {
		config.ClientAuth, config.ClientCAs = tls.VerifyClientCertIfGiven, x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(texts[2]) {
			return fmt.Errorf("%s: it holds no certificate", c.TLSClientCA)
		}
	}
	c.texts = texts
	c.current.Store(config)
	return nil
}

// forwardSecret are the suites of TLS 1.2 whose keys do not become known with the certificate's; those of TLS 1.3 are
// all so, and not chosen here.
func forwardSecret() []uint16 {
	return []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	}
}
