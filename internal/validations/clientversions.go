package validations

import (
	"maps"
	"strings"

	"purser/internal/document"
)

// ClientVersionsKind is the schema of documents that map client plugins to their versions (spec/property-groups.md §5).
const ClientVersionsKind = "purser/ClientVersions/v1"

// ClientVersions maps client plugins to their versions.
type ClientVersions map[string]string

// ReadClientVersions returns the versions that documents list. The first document that lists a plugin takes precedence.
// defaults apply to plugins that no document lists.
func ReadClientVersions(documents []*document.Document, defaults ClientVersions) ClientVersions {
	versions := ClientVersions{}
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
	return versions
}

// secretKey marks secret versions. It cannot be the name of a plugin, because documents cannot contain it.
const secretKey = "\x00"

// OfSecret returns v marked as coming from a secret. keyed is a keyed digest of the versions, which reveals nothing
// about them. It becomes part of Digest, so that the versions cannot be found by comparing digests.
func (v ClientVersions) OfSecret(keyed document.Digest) ClientVersions {
	secret := maps.Clone(v)
	secret[secretKey] = keyed.String()
	return secret
}

// AreSecret reports whether the versions come from a secret.
func (v ClientVersions) AreSecret() bool { return v[secretKey] != "" }

// Digest returns the digest of the versions, zero if there are none.
func (v ClientVersions) Digest() document.Digest {
	if len(v) == 0 {
		return document.Digest{}
	}
	members := make(document.Mapping, 0, len(v))
	for plugin, version := range v {
		members = append(members, document.Member{Key: plugin, Value: version})
	}
	return document.DigestOf(members)
}
