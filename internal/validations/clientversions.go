package validations

import (
	"strings"

	"purser/internal/document"
)

// ClientVersionsKind is the schema of documents that say which versions of client plugins a site has: plugin to version
// (spec/property-groups.md §5).
const ClientVersionsKind = "purser/ClientVersions/v1"

// ClientVersions are the versions of client plugins that a revision is judged with, by plugin.
type ClientVersions map[string]string

// ReadClientVersions reads documents that say which versions there are; of several that name a plugin the first one
// decides. For plugins that none of them names the defaults hold.
func ReadClientVersions(documents []*document.Document, defaults ClientVersions) ClientVersions {
	versions := ClientVersions{}
	for _, doc := range documents {
		value, err := document.ParseJSON(doc.Data)
		if err != nil {
			continue // it says nothing; a stored text always is JSON
		}
		data, _ := value.(document.Mapping)
		for _, member := range data {
			if _, decided := versions[member.Key]; decided {
				continue
			}
			switch version := member.Value.(type) {
			case string:
				if strings.TrimSpace(version) != "" { // else it says nothing, which its schema does not allow
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

// Digest names the versions; it is zero if there are none.
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
