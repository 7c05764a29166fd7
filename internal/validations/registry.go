package validations

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"

	"purser/internal/budget"
	"purser/internal/cycles"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// DataSchema is a registered schema with the ones that it refers to.
type DataSchema struct {
	Digest document.Digest
	Text   []byte // compact JSON
	Secret string // the site, if Text has a secret: what is remembered of it is of that site alone; else empty

	sum document.Digest // of Text, if it is of a registry
	own map[string]bool // the words that Text contains, among those that the registry looks for
	others
	registered map[string][]byte // the texts of all DataSchemas that Text may refer to, by name
}

// others describes the schemas that one refers to, directly or indirectly, without listing them: each schema of a long
// chain would have a list of all later ones.
type others struct {
	sum   document.Digest // of their names and texts; zero if there are none
	words map[string]bool // the words that one of them contains, among those that the registry looks for
}

// Refers reports whether the schema refers to another one.
func (s DataSchema) Refers() bool { return !s.others.sum.IsZero() }

// Registry holds the DataSchemas in force.
type Registry struct {
	texts    map[string][]byte
	read     map[string]text
	others   map[string]others   // of those that refer to one
	referred map[string][]string // the names of those that refer to one, by its name
}

// Costs of a registry, in the budget's steps.
const (
	// textSteps is for a byte of a schema that is hashed and searched for references and for words.
	textSteps = 5
	// schemaSteps is for a schema that is known, and referenceSteps for each reference to it.
	schemaSteps    = 2_000
	referenceSteps = 500
)

// text is what a registry reads from the text of a DataSchema.
type text struct {
	sum      document.Digest
	refersTo []string
	words    map[string]bool
}

// textKey identifies a DataSchema: its Secret and its Digest.
type textKey struct {
	site string
	of   document.Digest
}

// text reads a DataSchema, each with the same digest once. The only errors are those of meter.
func (e *Engine) text(meter *budget.Meter, schema DataSchema, words []string) (text, error) {
	key := textKey{schema.Secret, schema.Digest}
	if known, ok := e.texts.Get(key); ok {
		return known, nil
	}
	if err := meter.Spend(textSteps * len(schema.Text)); err != nil {
		return text{}, err
	}
	read := text{schema.ownSum(), jsonschema.References(schema.Text), map[string]bool{}}
	const overhead, each = 300, 20
	size := overhead
	for _, other := range read.refersTo {
		size += each + len(other)
	}
	for _, word := range words {
		if bytes.Contains(schema.Text, []byte(word)) {
			read.words[word] = true
		}
	}
	if !schema.Digest.IsZero() {
		e.texts.Add(key, read, size)
	}
	return read, nil
}

// Registry returns a registry of DataSchemas, given with their digests and texts by name. The only errors are those of
// meter.
func (e *Engine) Registry(meter *budget.Meter, schemas map[string]DataSchema) (Registry, error) {
	r := Registry{map[string][]byte{}, map[string]text{}, map[string]others{}, map[string][]string{}}
	names, words := slices.Sorted(maps.Keys(schemas)), e.words()
	position := make(map[string]int32, len(names))
	for i, name := range names {
		position[name] = int32(i)
	}
	var graph cycles.Graph
	for i := 0; i < len(names); i++ { // it grows by names that are not registered
		err := meter.Spend(schemaSteps)
		if schema, known := schemas[names[i]]; known && err == nil {
			r.texts[names[i]] = schema.Text
			r.read[names[i]], err = e.text(meter, schema, words)
		}
		if err != nil {
			return r, budget.About(err, "read the DataSchema %s", names[i])
		}
		var edges []int32
		for _, other := range r.read[names[i]].refersTo {
			meter.Charge(referenceSteps)
			if _, known := position[other]; !known {
				position[other] = int32(len(names)) //nolint:gosec // a site has fewer
				names = append(names, other)
			}
			edges = append(edges, position[other])
			r.referred[other] = append(r.referred[other], names[i])
		}
		graph = append(graph, edges)
	}
	return r, r.describe(meter, names, graph)
}

// describe sets others. Schemas that refer to one another have the same others, and those of a schema are derived from
// what is known of the ones that it refers to, so that each text is read once.
func (r Registry) describe(meter *budget.Meter, names []string, graph cycles.Graph) error {
	known := make([]others, len(names)) // a schema together with its others
	return graph.Each(meter, func(group []int32) error {
		slices.Sort(group)
		isCyclic := len(group) > 1 || slices.Contains(graph[group[0]], group[0])
		var parts []others
		for _, i := range group {
			known[i] = r.alone(names[i])
			if isCyclic {
				parts = append(parts, known[i])
			}
		}
		for _, i := range group {
			for _, to := range graph[i] {
				if _, inside := slices.BinarySearch(group, to); !inside {
					parts = append(parts, known[to])
				}
			}
		}
		of := together(parts)
		for _, i := range group {
			if len(graph[i]) > 0 {
				r.others[names[i]] = of
				known[i] = together([]others{known[i], of})
			}
		}
		return nil
	})
}

// alone describes a schema without those that it refers to.
func (r Registry) alone(name string) others {
	read := r.read[name]
	return others{sum: sha256.Sum256(append(read.sum[:], name...)), words: read.words}
}

func (o *others) add(word string) {
	if o.words == nil {
		o.words = map[string]bool{}
	}
	o.words[word] = true
}

// together describes schemas that are described by parts.
func together(parts []others) (all others) {
	slices.SortFunc(parts, func(a, b others) int { return bytes.Compare(a.sum[:], b.sum[:]) })
	h := sha256.New()
	parts = slices.CompactFunc(parts, func(a, b others) bool { return a.sum == b.sum })
	for _, part := range parts {
		h.Write(part.sum[:])
		for word := range part.words {
			all.add(word)
		}
	}
	all.sum = document.Digest(h.Sum(nil))
	return all
}

// DataSchema returns the registered DataSchema with a name, and a digest that identifies its document.
func (r Registry) DataSchema(digest document.Digest, name string) DataSchema {
	read := r.read[name]
	s := DataSchema{Digest: digest, Text: r.texts[name], sum: read.sum, own: read.words, others: r.others[name]}
	if s.Refers() {
		s.registered = r.texts
	}
	return s
}

// digest returns a digest of all texts.
func (s DataSchema) digest() document.Digest {
	if s.sum.IsZero() {
		return s.with(s.ownSum())
	}
	return s.with(s.sum)
}

// ownSum returns a digest of Text, which differs from those of other sites if it has a secret: what is cached of it
// would tell who guesses the secret in another site that he is right.
func (s DataSchema) ownSum() document.Digest {
	if s.Secret == "" {
		return sha256.Sum256(s.Text)
	}
	return sha256.Sum256(append([]byte("secret of "+s.Secret+"\n"), s.Text...))
}

// with returns a digest of digest and the texts of the others, or digest itself if there are none.
func (s DataSchema) with(digest document.Digest) document.Digest {
	if !s.Refers() {
		return digest
	}
	return sha256.Sum256(append(digest[:], s.others.sum[:]...))
}

// contains reports whether one of the texts contains a word that registries look for.
func (s DataSchema) contains(word string) bool {
	if s.own == nil { // it is of no registry
		return bytes.Contains(s.Text, []byte(word))
	}
	return s.words[word] || s.own[word]
}

// Referring returns the names of the schemas that refer, directly or indirectly, to one of names, and names themselves,
// each with the first of names that it depends on.
func (r Registry) Referring(names []string) map[string]string {
	found := make(map[string]string, len(names))
	for _, first := range names {
		for queue := []string{first}; len(queue) > 0; queue = queue[1:] {
			if _, known := found[queue[0]]; !known {
				found[queue[0]] = first
				queue = append(queue, r.referred[queue[0]]...)
			}
		}
	}
	return found
}
