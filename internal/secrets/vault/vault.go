// Package vault encrypts keysets with a key of HashiCorp Vault's transit engine, by Tink's extension for it. It is
// apart from package secrets, which cmd/purser depends on too, so that only the server depends on Vault's client.
package vault

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/vault/api"
	"github.com/tink-crypto/tink-go-hcvault/v2/integration/hcvault"
	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/files"
)

// timeout is that of requests to Vault. It is short because a request may wait while a keyset is read again.
const timeout = 5 * time.Second

var errURI = errors.New(
	"a KMS key is named hcvault://HOST[:PORT]/MOUNT/keys/NAME, as in hcvault://vault:8200/transit/keys/purser")

// Key encrypts with a key of the transit engine.
type Key struct {
	client    *api.Client
	transit   tink.AEAD
	tokenFile string // "" if the token is in VAULT_TOKEN
}

var _ tink.AEAD = (*Key)(nil)

// Open returns the key named by a URI such as hcvault://vault:8200/transit/keys/purser. It is used over https, with
// the token in VAULT_TOKEN, or in a file, and Vault's other variables (VAULT_CACERT, VAULT_NAMESPACE,
// VAULT_CLIENT_CERT, …). Open does not contact Vault yet.
func Open(uri, tokenFile string) (*Key, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "hcvault" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errURI // the URI itself may contain a secret
	}
	config := api.DefaultConfig()
	if config.Error != nil {
		return nil, fmt.Errorf("read Vault's variables: %w", config.Error)
	}
	config.Address, config.AgentAddress = "https://"+u.Host, ""
	config.Timeout, config.MaxRetries = timeout, 0
	client, err := api.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of Vault: %w", err)
	}
	transit, err := hcvault.NewAEAD(u.EscapedPath(), client.Logical())
	if err != nil {
		return nil, errURI
	}
	return &Key{client, transit, tokenFile}, nil
}

// Encrypt implements tink.AEAD.
func (k *Key) Encrypt(text, associated []byte) ([]byte, error) {
	if err := k.readToken(); err != nil {
		return nil, err
	}
	return k.transit.Encrypt(text, associated)
}

// Decrypt implements tink.AEAD.
func (k *Key) Decrypt(text, associated []byte) ([]byte, error) {
	if err := k.readToken(); err != nil {
		return nil, err
	}
	return k.transit.Decrypt(text, associated)
}

// readToken reads the token again if it is in a file, which Vault's agent replaces.
func (k *Key) readToken() error {
	if k.tokenFile == "" {
		return nil
	}
	const maxToken = 16 << 10 // bytes
	text, err := files.ReadPrivate(k.tokenFile, maxToken)
	if err != nil {
		return fmt.Errorf("--secrets-kms-token-file: %w", err)
	}
	k.client.SetToken(strings.TrimSpace(string(text)))
	return nil
}
