package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// selecting is the number of required validations of row 31.
const selecting = 5

// inputs measures row 31: a PUT of one document into a wide site whose policy requires validations, with results whose
// inputs select all documents, and with results that depend on the whole revision. In the first one, the digest of all
// documents is computed for each validation.
func (r *run) inputs() {
	r.sayf("row 31: results with inputs, on %d documents of %s", r.wide, small().label)
	with := r.requiringSite("inputs", ", inputs: {schemas: ['*']}")
	without := r.requiringSite("without_inputs", "")
	r.compare(31, compared{
		repeats: often, limit: 1.25, against: without, measured: with,
		what: fmt.Sprintf("PUT of one document, %d required validations with inputs that select all, to without inputs",
			selecting),
	})
}

// requiringSite makes a site whose newest revision has a result of each validation that its policy requires. The
// function that it returns changes one document.
func (r *run) requiringSite(name, inputs string) (change func()) {
	s := r.start(name)
	var policy strings.Builder
	policy.WriteString("schema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: required}\n" +
		"data:\n  validations:\n  - name: deckhand-rendering-validation\n")
	for i := range selecting {
		fmt.Fprintf(&policy, "  - name: v%d-validation\n", i)
	}
	many := newSite(small(), r.wide)
	s.put("policy", []byte(policy.String()))
	s.put("schemas", []byte(small().schema))
	s.put("many", many.body())
	one, version := newSite(small(), r.wide+1), 0
	change = func() {
		version++
		one.change(r.wide, version)
		s.put("one", []byte(one.documents[r.wide]))
	}
	change()
	for i := range selecting {
		body := fmt.Sprintf("{status: success, validator: {name: bench, version: '1'}%s}", inputs)
		s.send(http.MethodPost, fmt.Sprintf("%s/revisions/latest/validations/v%d-validation", api, i),
			[]byte(body), io.Discard)
	}
	s.vacuum()
	return change
}
