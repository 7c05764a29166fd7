package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"purser/internal/authn"
	"purser/internal/files"
)

// tlsFlags configure TLS.
type tlsFlags struct {
	TLSCert     string `name:"tls-cert"      help:"Certificate of the server and its intermediate certificates, as PEM; reloaded when it changes." type:"path"`                                       //nolint:lll // a tag
	TLSKey      string `name:"tls-key"       help:"Private key of the certificate, as PEM; readable by its owner only." type:"path"`                                                                  //nolint:lll // a tag
	TLSClientCA string `name:"tls-client-ca" help:"Authorities of client certificates, as PEM. Clients with such a certificate need no token: CN is the user, each OU=role:NAME a role." type:"path"` //nolint:lll // a tag

	TLSClientCRL string `name:"tls-client-crl" help:"Lists of the client certificates that these authorities have revoked, as PEM; reloaded when it changes." type:"path"` //nolint:lll // a tag
}

func (f *tlsFlags) validate() error {
	if (f.TLSCert == "") != (f.TLSKey == "") || f.TLSClientCA != "" && f.TLSCert == "" {
		return errors.New("--tls-cert and --tls-key require each other, and --tls-client-ca requires both")
	}
	if f.TLSClientCRL != "" && f.TLSClientCA == "" {
		return errors.New("--tls-client-crl requires --tls-client-ca")
	}
	return nil
}

const maxCertificateFile = 4 << 20 // bytes; a bundle of all public authorities has a twentieth of this

// certificates are the contents of the files.
type certificates struct {
	config      *tls.Config        // of new connections
	authorities *authn.Authorities // of clients; nil without --tls-client-ca
}

// openTLS returns the current certificates, nil without a certificate. While a certificate and its key are replaced one
// after the other, these are the previous pair.
func (f *tlsFlags) openTLS(log *slog.Logger) (current func() certificates, err error) {
	if f.TLSCert == "" {
		return nil, nil
	}
	watched, err := files.Watch(files.Source[certificates]{
		Paths: []string{f.TLSCert, f.TLSKey, f.TLSClientCA, f.TLSClientCRL}, Private: []string{f.TLSKey},
		MaxBytes: maxCertificateFile, Now: time.Now,
		Parse: func(texts [][]byte) (certificates, error) { return f.parse(texts[0], texts[1], texts[2], texts[3]) },
		Report: func(_ certificates, err error) {
			if err != nil {
				log.Error("the changed certificates cannot be used; the previous ones remain in use", "error", err)
				return
			}
			log.Info("reloaded the certificates; new connections use them, and clients of open ones are checked again",
				"path", f.TLSCert)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.flagOf(err), err)
	}
	return watched.Current, nil
}

// flagOf returns the flag that names the file with whose path an error begins.
func (f *tlsFlags) flagOf(err error) string {
	for path, flag := range map[string]string{
		f.TLSKey: "--tls-key", f.TLSClientCA: "--tls-client-ca", f.TLSClientCRL: "--tls-client-crl",
	} {
		if rest, ok := strings.CutPrefix(err.Error(), path); ok && path != "" && strings.ContainsAny(rest[:1], ": ") {
			return flag
		}
	}
	return "--tls-cert"
}

// tlsOf returns a TLS configuration with which each new connection uses the current certificates.
func tlsOf(current func() certificates) *tls.Config {
	base := current().config.Clone()
	base.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return current().config, nil }
	return base
}

// parse reads the contents of the four files.
func (f *tlsFlags) parse(certificate, key, clientCA, clientCRL []byte) (certificates, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return certificates{}, fmt.Errorf("%s and %s: %w", f.TLSCert, f.TLSKey, err)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		CipherSuites: forwardSecret(),
	}
	if f.TLSClientCA == "" {
		return certificates{config: config}, nil
	}
	authorities, err := authn.ParseAuthorities(clientCA, clientCRL)
	if err != nil {
		paths := strings.TrimSuffix(f.TLSClientCA+" and "+f.TLSClientCRL, " and ")
		return certificates{}, fmt.Errorf("%s: %w", paths, err)
	}
	config.ClientAuth, config.ClientCAs = tls.VerifyClientCertIfGiven, authorities.Pool
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.VerifiedChains) == 0 {
			return nil // the client has shown no certificate
		}
		return authorities.Check(state.VerifiedChains, time.Now())
	}
	return certificates{config, authorities}, nil
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
