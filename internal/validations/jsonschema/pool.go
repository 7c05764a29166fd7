package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"sync"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
)

// instance is the schema as the library has compiled it. The library tells keywords nothing about the check that they
// are evaluated for; so each instance makes one check at a time, and its keywords find that check in run.
type instance struct {
	library *santhosh.Schema
	run     *run
}

// pool holds the instances of a schema that are not in use.
type pool struct {
	mu   sync.Mutex
	idle []*instance
}

// take returns an instance that nobody else uses. Only when checks really run at the same time is another one made,
// which is counted as work of the check that needs it. No check waits for another: that one might be waiting for its
// budget.
func (s *Schema) take(w work) (*instance, error) {
	s.pool.mu.Lock()
	if last := len(s.pool.idle) - 1; last >= 0 {
		taken := s.pool.idle[last]
		s.pool.idle = s.pool.idle[:last]
		s.pool.mu.Unlock()
		return taken, nil
	}
	s.pool.mu.Unlock()
	return s.instantiate(w)
}

// put gives an instance back. More than can run at the same time are not kept.
func (s *Schema) put(i *instance) {
	i.run.work, i.run.versions, i.run.reached = work{}, nil, nil
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if len(s.pool.idle) < runtime.GOMAXPROCS(0) {
		s.pool.idle = append(s.pool.idle, i)
	}
}

// base is the name the library knows the schema by. It refuses to open it or anything else.
const base = "purser:///schema"

// own is the keyword that stands for all those this package evaluates itself; it holds the number of the schema. The
// same word with the number is a format: the library asks for the format before all else, and so tells that it begins
// to evaluate the schema.
const own = "purser"

// instantiate lets the library compile the schema.
func (s *Schema) instantiate(w work) (*instance, error) {
	w.spend(compileBase + len(s.nodes)*compileSteps + len(s.prepared)*compileByte)
	i := &instance{run: new(run)}
	c := santhosh.NewCompiler()
	c.Draft = santhosh.Draft4
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errors.New("nothing is opened") }
	for _, n := range s.nodes {
		c.Formats[own+strconv.Itoa(n.id)] = func(v any) bool {
			i.run.enter(n, v)
			return true
		}
	}
	c.RegisterExtension(own, nil, compiler{schema: s, run: i.run})
	if err := c.AddResource(base, bytes.NewReader(s.prepared)); err != nil {
		return nil, fmt.Errorf("read the prepared schema: %w", err)
	}
	var err error
	if i.library, err = c.Compile(base); err != nil {
		return nil, fmt.Errorf("compile the prepared schema: %w", err)
	}
	return i, nil
}

// prepare writes what the library shall see of the schema.
func (s *Schema) prepare() error {
	root := s.nodes[0]
	w := writer{hoisted: make(map[int]*node)}
	w.hoist(root)
	document := w.place(root)
	definitions := make(map[string]any, len(w.hoisted))
	for id, n := range w.hoisted {
		definitions["s"+strconv.Itoa(id)] = w.schema(n)
	}
	document["definitions"] = definitions
	var err error
	if s.prepared, err = json.Marshal(document); err != nil {
		return fmt.Errorf("prepare schema: %w", err)
	}
	for _, n := range s.nodes {
		n.setPrice()
	}
	return nil
}
