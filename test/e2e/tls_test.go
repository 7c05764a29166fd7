package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purser/internal/store/storetest"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.certificate = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a.pem, a.key = a.sign(t, a.certificate)
	return a
}

// sign returns a signed certificate and its key.
func (a *authority) sign(t *testing.T, certificate *x509.Certificate) (text string, key *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, certificate, a.certificate, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), key
}

// issue returns a certificate with a serial number, and the text of its key.
func (a *authority) issue(t *testing.T, serial int64, subject pkix.Name) (certificate, key string) {
	t.Helper()
	certificate, private := a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: subject, DNSNames: []string{"purser.example"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// client returns a client that trusts the authority, and opens a connection for each request.
func (a *authority) client(t *testing.T, certificates ...tls.Certificate) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(a.pem))
	return &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		RootCAs: roots, ServerName: "purser.example", Certificates: certificates,
	}}}
}

func (a *authority) pair(t *testing.T, serial int64, subject pkix.Name) tls.Certificate {
	t.Helper()
	certificate, key := a.issue(t, serial, subject)
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// protected returns a server with TLS, and the paths of its certificate and key.
func protected(t *testing.T, a *authority, flags ...string) (s *server, certificate, key string) {
	t.Helper()
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	text, private := a.issue(t, 2, pkix.Name{CommonName: "purser"})
	writeFile(t, certificate, text)
	writeFile(t, key, private)
	flags = append(flags, "--tls-cert", certificate, "--tls-key", key)
	return startFor(t, a.client(t), storetest.URL(t), flags...), certificate, key
}

// serial returns the serial number of the certificate of a new connection.
func (s *server) serial(t *testing.T) int64 {
	t.Helper()
	response, err := s.client.Get(s.url + "/api/v1.0/health")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.TLS.PeerCertificates[0].SerialNumber.Int64()
}

func TestTLS_certificateChanges(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	s, certificate, key := protected(t, a)
	if !strings.HasPrefix(s.url, "https://") || s.serial(t) != 2 {
		t.Fatalf("it serves on %s, with certificate %d", s.url, s.serial(t))
	}
	s.put(t, "site", widget("w", "\n  a: 1")).is(t, http.StatusOK)
	link, _ := s.get(t, "revisions?limit=0&offset=1").is(t, http.StatusOK).mapping(t)["prev"].(string)
	if link != "" && !strings.HasPrefix(link, "https://") {
		t.Errorf("a link leads to %s", link)
	}
	text, private := a.issue(t, 3, pkix.Name{CommonName: "purser"})
	writeFile(t, certificate, text)
	eventually(t, "a certificate without its key is complained of", func() bool {
		return s.serial(t) == 2 && strings.Contains(s.log.text(), "the changed certificates cannot be used")
	})
	writeFile(t, key, private)
	eventually(t, "the new certificate is shown", func() bool { return s.serial(t) == 3 })
}

func TestTLS_oldVersions(t *testing.T) {
	t.Parallel()
	s, _, _ := protected(t, newAuthority(t))
	address := strings.TrimPrefix(s.root, "https://")
	for name, config := range map[string]*tls.Config{
		"TLS 1.1": {MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
		"CBC":     {MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA}},
	} {
		config.InsecureSkipVerify = true
		if conn, err := tls.Dial("tcp", address, config); err == nil {
			_ = conn.Close()
			t.Errorf("%s is spoken", name)
		}
	}
	conn, err := tls.Dial("tcp", address, &tls.Config{MaxVersion: tls.VersionTLS12, InsecureSkipVerify: true})
	if err != nil {
		t.Fatal("TLS 1.2:", err)
	}
	_ = conn.Close()
}

func TestTLS_clientCertificates(t *testing.T) {
	t.Parallel()
	a, stranger := newAuthority(t), newAuthority(t)
	authorities := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, authorities, a.pem)
	k := newKeys(t, "reader")
	s, _, _ := protected(t, a, "--tls-client-ca", authorities, "--auth", "tokens", "--tokens-file", k.file)

	s.whoami(t, k, "reader").takenFor(t, "reader", "reader")
	s.get(t, "whoami").fails(t, http.StatusUnauthorized, "HTTPUnauthorized")

	robot := pkix.Name{CommonName: "robot", OrganizationalUnit: []string{"role:admin", "Operations"}}
	s.client = a.client(t, a.pair(t, 4, robot))
	s.get(t, "whoami").takenFor(t, "robot", "admin")
	s.get(t, "revisions").is(t, http.StatusOK)
	s.whoami(t, k, "reader").takenFor(t, "reader", "reader") // a token takes precedence over the certificate
	s.get(t, "whoami", "X-Auth-Token", "wrong").fails(t, http.StatusUnauthorized, "HTTPUnauthorized")

	s.client = a.client(t, stranger.pair(t, 5, robot))
	if got, err := s.try(t.Context(), request{method: http.MethodGet, path: "whoami"}); err == nil && got.status != http.StatusUnauthorized {
		t.Errorf("the certificate of a stranger: status %d", got.status)
	}
	s.client = a.client(t)
}
