package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
)

// Schema is a schema that data can be checked against. It is safe for concurrent use.
type Schema struct {
	root  *node
	costs *costs
	// versions are those of client plugins, for the keywords that others add.
	versions      map[string]string
	namesVersions bool
	library       *santhosh.Schema

	// References that point nowhere note here that a check reached them; alone is held during a check that can.
	dangling bool
	alone    sync.Mutex
	reached  []*santhosh.ValidationError
}

// Compile prepares a Draft 4 schema given as JSON text. A schema that cannot be used gives a *Unusable error.
func Compile(schema []byte, options Options) (*Schema, error) {
	document, err := parse(schema, maxNodes)
	if err != nil {
		return nil, unusable("the schema cannot be read: " + err.Error())
	}
	return compile(document, metaschema(), options)
}

func unusable(said string) *Unusable {
	m := new(message)
	m.add(said)
	return &Unusable{Findings: []Finding{{Message: m.String(), Instance: []string{}, SchemaPath: "."}}}
}

func compile(document *value, meta *Schema, options Options) (*Schema, error) {
	if options.Visits <= 0 {
		options.Visits = defaultVisits
	}
	if found := meta.checkSchema(document, nil); len(found) > 0 {
		return nil, &Unusable{Findings: found}
	}
	g := read(document, meta)
	g.extend(options.Extensions)
	s := &Schema{root: g.nodes[0], versions: options.ClientVersions, namesVersions: g.namesVersions}
	if len(g.findings) == 0 {
		g.rankAll(options)
	}
	if len(g.findings) == 0 {
		s.costs = g.weigh(options)
	}
	if len(g.findings) > 0 {
		return nil, &Unusable{Findings: atMost(g.findings, len(g.findings))}
	}
	if err := s.prepare(g); err != nil {
		return nil, err
	}
	return s, nil
}

// base is the name the library knows the schema by. It refuses to open it or anything else.
const base = "purser:///schema"

// own is the keyword that stands for all those this package evaluates itself; it holds the number of the schema.
const own = "purser"

// prepare gives the library what it shall see of the schema.
func (s *Schema) prepare(g *graph) error {
	w := writer{hoisted: make(map[int]*node)}
	w.hoist(s.root)
	document := w.place(s.root)
	definitions := make(map[string]any, len(w.hoisted))
	for id, n := range w.hoisted {
		definitions["s"+strconv.Itoa(id)] = w.schema(n)
	}
	document["definitions"] = definitions
	prepared, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("prepare schema: %w", err)
	}
	c := santhosh.NewCompiler()
	c.Draft = santhosh.Draft4
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errors.New("nothing is opened") }
	c.RegisterExtension(own, nil, keywords{schema: s, nodes: g.nodes})
	if err := c.AddResource(base, bytes.NewReader(prepared)); err != nil {
		return unusable("the schema cannot be compiled: " + err.Error())
	}
	if s.library, err = c.Compile(base); err != nil {
		return unusable("the schema cannot be compiled: " + err.Error())
	}
	return nil
}
