package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"purser/internal/files"
)

// tlsFlags configure TLS.
type tlsFlags struct {
	TLSCert     string `name:"tls-cert"      help:"Certificate of the server and its intermediate certificates, as PEM; reloaded when it changes." type:"path"`                                       //nolint:lll // a tag
	TLSKey      string `name:"tls-key"       help:"Private key of the certificate, as PEM; only its owner may be able to read it." type:"path"`                                                       //nolint:lll // a tag
	TLSClientCA string `name:"tls-client-ca" help:"Authorities of client certificates, as PEM. Clients with such a certificate need no token: CN is the user, each OU=role:NAME a role." type:"path"` //nolint:lll // a tag
}

func (f *tlsFlags) validate() error {
	if (f.TLSCert == "") != (f.TLSKey == "") || f.TLSClientCA != "" && f.TLSCert == "" {
		return errors.New("--tls-cert and --tls-key require each other, and --tls-client-ca requires both")
	}
	return nil
}

const maxCertificateFile = 4 << 20 // bytes; a bundle of all public authorities has a twentieth of this

// openTLS returns the TLS configuration of connections, nil without a certificate. New connections use the current
// files. While a certificate and its key are replaced one after the other, new connections use the previous pair.
func (f *tlsFlags) openTLS(log *slog.Logger) (*tls.Config, error) {
	if f.TLSCert == "" {
		return nil, nil
	}
	watched, err := files.Watch(files.Source[*tls.Config]{
		Paths: []string{f.TLSCert, f.TLSKey, f.TLSClientCA}, Private: []string{f.TLSKey},
		MaxBytes: maxCertificateFile, Now: time.Now,
		Parse: func(texts [][]byte) (*tls.Config, error) { return f.config(texts[0], texts[1], texts[2]) },
		Report: func(_ *tls.Config, err error) {
			if err != nil {
				log.Error("the changed certificates cannot be used; the previous ones remain in use", "error", err)
				return
			}
			log.Info("reloaded the certificates; new connections use them", "path", f.TLSCert)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the certificates: %w", err)
	}
	base := watched.Current().Clone()
	base.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return watched.Current(), nil }
	return base, nil
}

// config returns the TLS configuration for the contents of the three files.
func (f *tlsFlags) config(certificate, key, clientCA []byte) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", f.TLSCert, f.TLSKey, err)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		CipherSuites: forwardSecret(),
	}
	if f.TLSClientCA != "" {
		config.ClientAuth, config.ClientCAs = tls.VerifyClientCertIfGiven, x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(clientCA) {
			return nil, fmt.Errorf("%s contains no certificate", f.TLSClientCA)
		}
	}
	return config, nil
}

// forwardSecret returns the cipher suites of TLS 1.2 with forward secrecy. Those of TLS 1.3 all have it and are not
// configurable.
func forwardSecret() []uint16 {
	return []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	}
}
