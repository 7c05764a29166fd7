// Package vault encrypts keysets with a key of HashiCorp Vault's transit engine, by Tink's extension for it. It is
// apart from package secrets so that only programs that use it depend on Vault's client.
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

// timeout is that of requests to Vault. It is short because a request may wait while a keyset is read again.
const timeout = 5 * time.Second

var errURI = errors.New(
	"a KMS key is named hcvault://HOST[:PORT]/MOUNT/keys/NAME, as in hcvault://vault:8200/transit/keys/purser")

// Key returns the key named by a URI such as hcvault://vault:8200/transit/keys/purser. It is used over https, with
// the token in VAULT_TOKEN and Vault's other variables (VAULT_CACERT, VAULT_NAMESPACE, VAULT_CLIENT_CERT, …). Key does
// not contact Vault yet.
func Key(uri string) (tink.AEAD, error) {
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
	key, err := hcvault.NewAEAD(u.EscapedPath(), client.Logical())
	if err != nil {
		return nil, errURI
	}
	return key, nil
}
