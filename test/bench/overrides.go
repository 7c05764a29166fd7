package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/puppet"
)

const (
	catalogResources = 5000
	catalogOverrides = 500
)

var errNotOverridden = errors.New("the overrides do not fit the catalog")

// overrides measures row 23: overriding a compiled catalog, from text to text, relative to decoding the text.
func (b *bench) overrides(ctx context.Context) error {
	b.sayf("row 23: overriding a catalog")
	catalog, override := catalogText(), overrideText()
	run := func() error {
		meter := budget.NewMeter(ctx)
		read, err := puppet.Read(meter, catalog)
		if err != nil {
			return fmt.Errorf("read the catalog: %w", err)
		}
		doc := puppet.Document{Identity: document.Identity{Schema: puppet.OverrideKind, Name: "bench"}, Data: override}
		overrides, err := puppet.Gather(meter, []puppet.Document{doc}, nil, nil)
		if err != nil {
			return fmt.Errorf("read the overrides: %w", err)
		}
		result, err := puppet.Apply(meter, read, overrides.Instances, overrides.Types)
		switch {
		case err != nil:
			return fmt.Errorf("override the catalog: %w", err)
		case len(result.Report.Changes) != catalogOverrides:
			return errNotOverridden
		}
		_, err = result.Catalog.JSON(meter)
		return err
	}
	return b.compare(compared{
		row: 23, limit: 3, repeats: often, measured: run,
		against: func() error {
			var value any
			return json.Unmarshal(catalog, &value)
		},
		what: fmt.Sprintf("%d overrides of a catalog of %d resources, %.1f MB: read, override and write, to encoding/json "+
			"decoding it", catalogOverrides, catalogResources, float64(len(catalog))/1e6),
	})
}

// catalogText returns a catalog with members similar to those that Puppet writes.
func catalogText() []byte {
	resources := []string{`{"type":"Class","title":"Service","kind":"class"}`, `{"type":"Package","title":"service"}`}
	var edges []string
	for i := range catalogResources {
		resources = append(resources, fmt.Sprintf(`{"type":"File","title":"/etc/service-%d/service.conf","tags":["file",`+
			`"class","service","service_%d"],"file":"/etc/puppetlabs/code/environments/production/modules/service/init.pp",`+
			`"line":%d,"exported":false,"kind":"compilable_type","parameters":{"ensure":"file","owner":"root",`+
			`"group":"root","mode":"0644","content":"[DEFAULT]\nport = %d\ndebug = false\n",`+
			`"require":"Package[service]"}}`, i, i/10, i%1000, 1000+i))
		edges = append(edges, fmt.Sprintf(`{"source":"Class[Service]","target":"File[/etc/service-%d/service.conf]"}`, i))
	}
	return []byte(`{"name":"node","catalog_format":2,"resources":[` + strings.Join(resources, ",") + `],"edges":[` +
		strings.Join(edges, ",") + `]}`)
}

// overrideText returns overrides of every tenth resource, including relationships.
func overrideText() []byte {
	entries := make([]string, catalogOverrides)
	for i := range entries {
		entries[i] = fmt.Sprintf(`"/etc/service-%d/service.conf":{"mode":"0600","content":"[DEFAULT]\nport = %d\n",`+
			`"before":"File[/etc/service-%d/service.conf]"}`, 10*i, 2000+i, 10*i+1)
	}
	return []byte(`{"configuration":{"file":{` + strings.Join(entries, ",") + `}}}`)
}
