package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"purser/internal/validations"
)

// policed is a server whose site has a ValidationPolicy.
type policed struct {
	*server
	layered

	asked   []string // the validations that the policy requires
	version int      // of the last changed document
}

// text returns the site with its policy, and one document that depends on the version.
func (p *policed) text(version int) []byte {
	var b bytes.Buffer
	b.Write(bytes.TrimRight(p.body, "\n"))
	fmt.Fprintf(&b, `
---
schema: deckhand/ValidationPolicy/v1
metadata:
  schema: metadata/Control/v1
  name: bench
data:
  validations: [{name: %s}]
---
schema: bench/Note/v1
metadata:
  schema: metadata/Document/v1
  name: note
  storagePolicy: cleartext
  layeringDefinition: {abstract: false, layer: site}
data: {version: %d}
`, strings.Join(p.asked, "}, {name: "), version)
	return b.Bytes()
}

// put returns work that puts another version of the site each time.
func (p *policed) put(ctx context.Context) func() error {
	return func() error {
		p.version++
		return p.server.put(ctx, "site", p.text(p.version))
	}
}

func (p *policed) empty(ctx context.Context) error {
	if err := p.send(ctx, http.MethodDelete, api+"/revisions", nil, &bytes.Buffer{}); err != nil {
		return err
	}
	return vacuum(ctx, p.db)
}

// policies measures row 13.
func (b *bench) policies(ctx context.Context) (err error) {
	site, err := b.layered(ctx)
	if err != nil {
		return err
	}
	b.sayf("row 13: %s with and without the validations of the whole", site.label)
	own := []string{validations.SchemaValidation}
	without, err := b.police(ctx, "unasked", site, own)
	if err != nil {
		return err
	}
	defer func() { err = without.stop(err) }()
	with, err := b.police(ctx, "asked", site, append(own, validations.PolicyValidation, validations.RenderingValidation))
	if err != nil {
		return err
	}
	defer func() { err = with.stop(err) }()
	return b.policedPUTs(ctx, with, without)
}

// police creates a site whose policy requires the validations in asked, and checks that the site passes all of them.
func (b *bench) police(ctx context.Context, name string, site layered, asked []string) (*policed, error) {
	s, err := b.start(ctx, name)
	if err != nil {
		return nil, err
	}
	p := &policed{server: s, layered: site, asked: asked}
	if err := p.put(ctx)(); err != nil {
		return nil, p.stop(err)
	}
	if err := p.get(ctx, api+"/revisions/latest/status?expect=success"); err != nil {
		return nil, p.stop(err)
	}
	return p, nil
}

func (b *bench) policedPUTs(ctx context.Context, with, without *policed) error {
	sides := []*policed{with, without}
	each := func(do func(*policed, context.Context) error) func() error {
		return func() error {
			for _, side := range sides {
				if err := do(side, ctx); err != nil {
					return err
				}
			}
			return nil
		}
	}
	const asked = "a policy asks for policy and rendering validation, to it asks for neither"
	for _, pair := range []compared{
		{
			repeats: rarely, limit: 1.5, before: each((*policed).empty),
			what: "PUT into an empty site, schemas compiled before, " + asked,
		},
		{what: "PUT with one document changed, " + asked},
	} {
		pair.row, pair.what = 13, with.label+": "+pair.what
		pair.measured, pair.against = with.put(ctx), without.put(ctx)
		if err := b.compare(pair); err != nil {
			return err
		}
	}
	return nil
}
