package validations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/words"
)

// strayLevel is the level of notes about stray keys.
const strayLevel = "Warning"

// frameKeys are the keys of a document's frame, by path without indexes. The server adds id and status to documents
// that are read from it.
var frameKeys = map[string][]string{
	"": {"schema", "metadata", "data", "id", "status"},
	".metadata": {
		"schema", "name", "labels", "replacement", "storagePolicy", "layeringDefinition", "substitutions",
	},
	layeringPath:                        {"layer", "abstract", "parentSelector", "actions"},
	layeringPath + ".actions":           {"method", "path"},
	substitutionsPath:                   {"src", "dest"},
	substitutionsPath + ".src":          {"schema", "name", "path", "pattern", "match_group", "deepcopy"},
	substitutionsPath + ".dest":         {"path", "pattern", "recurse"},
	substitutionsPath + ".dest.recurse": {"depth"},
}

// stray is a key that is not part of a document's frame.
type stray struct {
	within, key string // the path of its mapping, and its name
	nearest     string // the key that was probably meant; "" if none is similar
}

// maxStrays is the maximum number of stray keys to name.
const maxStrays = 10

// Strays returns notes about keys that are lost or have no effect: all keys at the top level that are not those of a
// document, and keys in metadata that are similar to those with an effect; other keys are free there in control
// documents. The note about an encrypted document names no key, because the key may be a part of the secret.
func Strays(root document.Mapping) (notes []document.Note) {
	note := func(path, message string) {
		notes = append(notes, document.Note{Level: strayLevel, Path: path, Message: message})
	}
	strays := appendStrays(nil, root, "", "")
	if len(strays) > 0 && isEncrypted(root) {
		note("", "A key is not kept, or has no effect; it is not named here, because the document is encrypted")
		return notes
	}
	for _, s := range strays[:min(len(strays), maxStrays)] {
		note(s.path(), s.String())
	}
	if len(strays) > maxStrays {
		note("", "More keys are not kept, or have no effect")
	}
	return notes
}

// IsStray reports whether a note is about stray keys.
func IsStray(note document.Note) bool { return note.Level == strayLevel }

// StrayPath returns the path of the first stray key of a document, or that of its mapping if the key is too long. It
// returns nil if the document has none.
func StrayPath(root document.Mapping) []string {
	strays := appendStrays(nil, root, "", "")
	if len(strays) == 0 {
		return nil
	}
	path := strays[0].path()
	if path == "" { // the key is too long for a path
		return []string{}
	}
	return append(strings.Split(path[1:], "."), document.AtKey)
}

// isEncrypted reports whether a document says that it is encrypted.
func isEncrypted(root document.Mapping) bool {
	return document.Locate(root, []string{"metadata", "storagePolicy"}) == "encrypted"
}

// mayBeEncrypted reports whether a document says that it is encrypted, or one of the first keys of its metadata has a
// similar value.
func mayBeEncrypted(root document.Mapping) bool {
	const maxKeys = 20
	metadata, _ := root.At("metadata").(document.Mapping)
	return isEncrypted(root) || slices.ContainsFunc(metadata[:min(len(metadata), maxKeys)], func(m document.Member) bool {
		text, _ := m.Value.(string)
		return words.Nearest(text, []string{"encrypted"}) != ""
	})
}

// splitFrame returns the longest part of a path whose keys are all those of a document's frame, and the key after it.
func splitFrame(path string) (known, unknown string) {
	place := ""
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		_, err := strconv.Atoi(part)
		switch {
		case slices.Contains(frameKeys[place], part):
			place += "." + part
		case err != nil || place != substitutionsPath && place != layeringPath+".actions":
			return known, strings.TrimPrefix(path[len(known):], ".")
		}
		known += "." + part
	}
	return known, ""
}

// path returns the path of the key, or that of its mapping if the key is too long.
func (s stray) path() string {
	if len(s.key) > MaxName {
		return s.within
	}
	return s.within + "." + s.key
}

// String says what happens to the key.
func (s stray) String() string {
	said := fmt.Sprintf("The key '%s' has no effect", brief(s.key))
	if s.within == "" {
		said = fmt.Sprintf("The key '%s' is not kept: a document has only schema, metadata and data", brief(s.key))
	}
	if s.nearest != "" {
		said += "; did you mean " + s.nearest + "?"
	}
	return said
}

// appendStrays appends the stray keys in a part of a document, until there is one more than maxStrays. path is that of
// the part, and place the same without indexes.
func appendStrays(strays []stray, part any, path, place string) []stray {
	switch part := part.(type) {
	case []any:
		for i, item := range part {
			strays = appendStrays(strays, item, path+"."+strconv.Itoa(i), place)
		}
	case document.Mapping:
		for _, member := range part {
			if slices.Contains(frameKeys[place], member.Key) {
				if inner := place + "." + member.Key; frameKeys[inner] != nil {
					strays = appendStrays(strays, member.Value, path+"."+member.Key, inner)
				}
			} else if len(strays) <= maxStrays {
				nearest := words.Nearest(member.Key, frameKeys[place])
				if nearest != "" || place == "" {
					strays = append(strays, stray{path, member.Key, nearest})
				}
			}
		}
	}
	return strays
}

// checkData refuses a document without data that has a stray key, under which its data may be.
func checkData(root document.Mapping) []violation {
	if _, held := root.Lookup("data"); held {
		return nil
	}
	strays := slices.DeleteFunc(appendStrays(nil, root, "", ""), func(s stray) bool { return s.within != "" })
	if len(strays) == 0 {
		return nil
	}
	meant := strays[max(0, slices.IndexFunc(strays, func(s stray) bool { return s.nearest == "data" }))]
	message := fmt.Sprintf("The document has no data, but a key '%s', which would not be kept", brief(meant.key))
	if mayBeEncrypted(root) {
		message = "The document has no data, but a key that would not be kept; it is not named here, because the document " +
			"is encrypted"
	}
	return []violation{{path: ".data", message: message, at: meant.path()}}
}

// withMisspellings notes which keys are probably misspellings of missing ones, and leaves out violations that say no
// more than that such a key is unknown. With compat it does so only at the top level, where other keys are allowed.
func withMisspellings(root document.Mapping, violations []violation, compat bool) []violation {
	explained := map[string]bool{} // keys, by path
	for i := range violations {
		v := &violations[i]
		within := v.path
		if name := strings.TrimPrefix(v.path, "."); !strings.Contains(name, ".") && v.missing == "" {
			within, v.missing = "", name
		}
		if compat && within != "" {
			continue
		}
		if v.misspelt = misspelt(root, within, v.missing); v.misspelt != "" {
			v.at = within + "." + v.misspelt
			explained[v.at] = true
		}
	}
	return slices.DeleteFunc(violations, func(v violation) bool {
		return v.misspelt == "" && explained[v.at] && strings.HasSuffix(v.message, " was unexpected)")
	})
}

// misspelt returns the key of the mapping at a path that is probably a misspelling of a missing one. It returns "" if
// the mapping has that key.
func misspelt(root document.Mapping, within, missing string) string {
	const maxKeys = 10
	var at any = root
	if within != "" {
		at = document.Locate(root, strings.Split(within[1:], "."))
	}
	mapping, _ := at.(document.Mapping)
	if _, held := mapping.Lookup(missing); held || missing == "" {
		return ""
	}
	var keys []string
	for _, member := range mapping[:min(len(mapping), maxKeys)] {
		if !slices.Contains(frameKeys[itemIndex.ReplaceAllString(within, "$1")], member.Key) {
			keys = append(keys, member.Key)
		}
	}
	return words.Nearest(missing, keys)
}
