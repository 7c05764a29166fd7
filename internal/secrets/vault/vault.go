// Package vault encrypts keysets by a key of HashiCorp Vault's transit engine, through Tink's own extension. It stands
// apart from package secrets, so that only the program that wires it has Vault's client in it.
package vault

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/hashicorp/vault/api"
	"github.com/tink-crypto/tink-go-hcvault/v2/integration/hcvault"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// patience is how long Vault may take for an answer: a keyset is read again while a request waits.
const patience = 5 * time.Second

var errURI = errors.New(
	"a KMS key is named hcvault://HOST[:PORT]/MOUNT/keys/NAME, as in hcvault://vault:8200/transit/keys/purser")

// Key returns the key that a URI such as hcvault://vault:8200/transit/keys/purser names. It is reached over https, with
// the token in VAULT_TOKEN and Vault's other variables (VAULT_CACERT, VAULT_NAMESPACE, VAULT_CLIENT_CERT, …). Nothing
// is asked of Vault yet.
func Key(uri string) (tink.AEAD, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "hcvault" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errURI // the URI itself may hold what should not be shown
	}
	config := api.DefaultConfig()
	if config.Error != nil {
		return nil, fmt.Errorf("read Vault's variables: %w", config.Error)
	}
	config.Address, config.AgentAddress = "https://"+u.Host, ""
	config.Timeout, config.MaxRetries = patience, 0
	client, err := api.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of Vault: %w", err)
	}
	key, err := hcvault.NewAEAD(u.EscapedPath(), client.Logical())
	if err != nil {
		return nil, errURI
	}
	return key, nil
}
