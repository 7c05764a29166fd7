package validations

import (
	"maps"
	"strings"

	"purser/internal/document"
)

// ClientVersionsKind is the schema of documents that map client plugins to their versions.
const ClientVersionsKind = "purser/ClientVersions/v1"

// ClientVersions are versions of client plugins, with a digest that is computed once. The zero value has none.
type ClientVersions struct {
	ByPlugin map[string]string // immutable
	digest   document.Digest
}

// newClientVersions returns versions with their digest, which is zero if there are none.
func newClientVersions(byPlugin map[string]string) ClientVersions {
	v := ClientVersions{ByPlugin: byPlugin}
	if len(byPlugin) == 0 {
		return v
	}
	members := make(document.Mapping, 0, len(byPlugin))
	for plugin, version := range byPlugin {
		members = append(members, document.Member{Key: plugin, Value: version})
	}
	v.digest = document.DigestOf(members)
	return v
}

// ReadClientVersions returns the versions that documents list. The first document that lists a plugin takes precedence.
// defaults apply to plugins that no document lists.
func ReadClientVersions(documents []*document.Document, defaults map[string]string) ClientVersions {
	versions := map[string]string{}
	for _, doc := range documents {
		value, err := document.ParseJSON(doc.Data)
		if err != nil {
			continue // cannot happen: stored text is valid JSON
		}
		data, _ := value.(document.Mapping)
		for _, member := range data {
			if _, decided := versions[member.Key]; decided {
				continue
			}
			switch version := member.Value.(type) {
			case string:
				if strings.TrimSpace(version) != "" { // the schema refuses blank versions
					versions[member.Key] = version
				}
			case document.Number:
				versions[member.Key] = string(version)
			}
		}
	}
	for plugin, version := range defaults {
		if _, decided := versions[plugin]; !decided {
			versions[plugin] = version
		}
	}
	return newClientVersions(versions)
}

// secretKey marks secret versions. It cannot be the name of a plugin, because documents cannot contain it.
const secretKey = "\x00"

// OfSecret returns v marked as coming from a secret. keyed is a keyed digest of the versions, which reveals nothing
// about them. It becomes part of Digest, so that the versions cannot be found by comparing digests.
func (v ClientVersions) OfSecret(keyed document.Digest) ClientVersions {
	secret := maps.Clone(v.ByPlugin)
	secret[secretKey] = keyed.String()
	return newClientVersions(secret)
}

// AreSecret reports whether the versions come from a secret.
func (v ClientVersions) AreSecret() bool { return AreSecretVersions(v.ByPlugin) }

// AreSecretVersions reports whether versions by plugin come from a secret.
func AreSecretVersions(byPlugin map[string]string) bool { return byPlugin[secretKey] != "" }

// Digest returns the digest of the versions, zero if there are none.
func (v ClientVersions) Digest() document.Digest { return v.digest }
