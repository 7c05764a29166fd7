package validations

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// DataSchema is a registered schema with the ones that it refers to.
type DataSchema struct {
	Digest document.Digest
	Text   []byte    // compact JSON
	Others []*Schema // that it refers to, directly or indirectly, by name
}

// Schema is the text of a DataSchema with what all DataSchemas that refer to it need to know.
type Schema struct {
	Name string
	Text []byte // compact JSON; nil if it is not registered

	hashed   []byte // Name and the digest of Text
	refersTo []*Schema
	position int // in order of names
}

// Registry holds the DataSchemas in force, and those that they refer to, by name.
type Registry map[string]*Schema

// NewRegistry returns a registry of DataSchemas with their texts by name.
func NewRegistry(texts map[string][]byte) Registry {
	r := make(Registry, len(texts))
	for name, text := range texts {
		s := r.add(name, text)
		for _, other := range jsonschema.References(text) {
			s.refersTo = append(s.refersTo, r.add(other, texts[other]))
		}
	}
	for i, name := range slices.Sorted(maps.Keys(r)) {
		r[name].position = i
	}
	return r
}

// add adds a schema, unless it is known, and returns it.
func (r Registry) add(name string, text []byte) *Schema {
	s, known := r[name]
	if !known {
		sum := sha256.Sum256(text)
		s = &Schema{Name: name, Text: text, hashed: slices.Concat([]byte(name), sum[:])}
		r[name] = s
	}
	return s
}

// textSteps is the cost of scanning a byte of a schema for references and keywords and of hashing it, in the budget's
// steps.
const textSteps = 5

// DataSchema returns the registered DataSchema with a name and those that it refers to. The only errors are those of
// meter, returned unwrapped.
func (r Registry) DataSchema(meter *budget.Meter, digest document.Digest, name string) (DataSchema, error) {
	s := DataSchema{Digest: digest, Text: r[name].Text}
	if len(r[name].refersTo) == 0 {
		return s, nil
	}
	known := map[*Schema]bool{}
	for next := slices.Clone(r[name].refersTo); len(next) > 0; {
		other := next[len(next)-1]
		if next = next[:len(next)-1]; known[other] {
			continue
		}
		if err := meter.Spend(len(other.Name) + len(other.Text)*textSteps); err != nil {
			return s, err
		}
		known[other] = true
		s.Others, next = append(s.Others, other), append(next, other.refersTo...)
	}
	slices.SortFunc(s.Others, func(a, b *Schema) int { return a.position - b.position })
	return s, nil
}

// sum returns a digest of all texts.
func (s DataSchema) sum() document.Digest { return s.with(sha256.Sum256(s.Text)) }

// with returns a digest of digest and the texts of Others, or digest itself if there are none.
func (s DataSchema) with(digest document.Digest) document.Digest {
	if len(s.Others) == 0 {
		return digest
	}
	h := sha256.New()
	h.Write(digest[:])
	for _, other := range s.Others {
		h.Write(other.hashed)
	}
	return document.Digest(h.Sum(nil))
}

// texts returns the texts of Others by name.
func (s DataSchema) texts() map[string][]byte {
	texts := make(map[string][]byte, len(s.Others))
	for _, other := range s.Others {
		texts[other.Name] = other.Text
	}
	return texts
}

// size returns the total length of all texts, in bytes.
func (s DataSchema) size() int {
	size := len(s.Text)
	for _, other := range s.Others {
		size += len(other.Text)
	}
	return size
}

// contains reports whether one of the texts contains part.
func (s DataSchema) contains(part []byte) bool {
	for _, other := range s.Others {
		if bytes.Contains(other.Text, part) {
			return true
		}
	}
	return bytes.Contains(s.Text, part)
}

// Dependents returns the names of the schemas that refer, directly or indirectly, to one of names, and names
// themselves.
func (r Registry) Dependents(names map[string]bool) map[string]bool {
	referring := make(map[string][]string) // names of schemas by the name that they refer to
	for name, schema := range r {
		for _, to := range schema.refersTo {
			referring[to.Name] = append(referring[to.Name], name)
		}
	}
	all := maps.Clone(names)
	for queue := slices.Collect(maps.Keys(names)); len(queue) > 0; queue = queue[1:] {
		for _, name := range referring[queue[0]] {
			if !all[name] {
				all[name] = true
				queue = append(queue, name)
			}
		}
	}
	return all
}
