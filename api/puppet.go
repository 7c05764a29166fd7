package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/puppet"
	"purser/internal/queries"
	"purser/internal/wire"
)

// GET /api/v1.0/revisions/{revision}/puppet/hiera
func (s *server) hiera(w http.ResponseWriter, r *http.Request) error {
	return s.writeHiera(w, r, negotiate(r))
}

// GET /api/v1.0/revisions/{revision}/puppet/hiera.yaml
func (s *server) hieraYAML(w http.ResponseWriter, r *http.Request) error {
	return s.writeHiera(w, r, typeYAML)
}

// GET /api/v1.0/revisions/{revision}/puppet/hiera.json
func (s *server) hieraJSON(w http.ResponseWriter, r *http.Request) error {
	return s.writeHiera(w, r, typeJSON)
}

// writeHiera answers with the data of overrides as a file that Puppet can fetch; Puppet compares checksums or times.
func (s *server) writeHiera(w http.ResponseWriter, r *http.Request, kind string) error {
	q := paramsOf(r)
	node := nodeOf(q)
	if err := q.err(); err != nil {
		return err
	}
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	set, err := s.overrides(w, r, id, node)
	if err != nil {
		return asHTTPNotFound(err)
	}
	data, err := set.Hiera(r.Context())
	if err != nil {
		return err
	}
	text, err := hieraText(budget.NewMeter(r.Context()), kind, data)
	if err != nil {
		return err
	}
	if err := checkAnswerSize(len(text), set.Size(), "simplify the overrides"); err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	w.Header().Set("X-Checksum-Sha256", hex.EncodeToString(sum[:]))
	w.Header().Set("Last-Modified", set.Revision.CreatedAt.UTC().Format(http.TimeFormat))
	s.answers.writeText(w, r, kind, text)
	return nil
}

func hieraText(meter *budget.Meter, kind string, data document.Mapping) ([]byte, error) {
	if kind == typeJSON {
		return puppet.JSON(meter, data)
	}
	return puppet.YAML(meter, data)
}

// POST /api/v1.0/revisions/{revision}/puppet/catalog
func (s *server) overrideCatalog(w http.ResponseWriter, r *http.Request) error {
	infoOf(r).unchanged = true // it stores nothing
	q := paramsOf(r)
	report, explain := q.flag("report", false), q.text("explain")
	ref, named := puppet.ParseRef(explain)
	if explain != "" && !named {
		q.fail("explain", "Name a resource: ?explain=File[/etc/motd].")
	}
	node := nodeOf(q)
	if err := q.err(); err != nil {
		return err
	}
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	catalog, size, end, err := s.readCatalog(w, r)
	if err != nil {
		return err
	}
	defer end()
	set, err := s.overrides(w, r, id, node)
	if err != nil {
		return asHTTPNotFound(err)
	}
	result, err := set.Apply(r.Context(), catalog)
	size += set.Size()
	switch {
	case err != nil:
		return err
	case named:
		return s.explainResource(w, r, set, result, ref)
	case report:
		return s.answers.writeWithin(w, r, negotiate(r), reportView(set, result.Report), size,
			"ask about one resource: ?explain=File[/etc/motd]")
	}
	text, err := queries.CatalogText(r.Context(), result.Catalog)
	if err == nil {
		err = checkAnswerSize(len(text), size, "simplify the overrides, or send a part of the catalog")
	}
	if err != nil {
		return err
	}
	s.answers.writeText(w, r, typeJSON, text)
	return nil
}

// explainResource answers with the documents that set the parameters of a resource.
func (s *server) explainResource(w http.ResponseWriter, r *http.Request, set queries.Overrides, result puppet.Result,
	ref puppet.Ref,
) error {
	if _, found := result.Catalog.Parameters(ref); !found {
		return fault.New(fault.NotFound, "ResourceNotFound", "The catalog has no %v, and no override creates it", ref)
	}
	return s.answers.writeWithin(w, r, negotiate(r),
		explainedResourceView(set, ref, result.Report.Explain(ref)), set.Size(), "simplify its overrides")
}

// GET /api/v1.0/revisions/{revision}/puppet/diff/{other}
func (s *server) diffHiera(w http.ResponseWriter, r *http.Request) error {
	before, after, err := s.overridesPair(w, r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	found, err := queries.DiffOverrides(r.Context(), before, after)
	if err != nil {
		return err
	}
	return s.writeDifferences(w, r, found, before.Size()+after.Size())
}

// writeDifferences answers with the differences between overrides, which are about a number of bytes of documents.
func (s *server) writeDifferences(w http.ResponseWriter, r *http.Request, found []puppet.Difference, bytes int) error {
	return s.answers.writeWithin(w, r, negotiate(r), overrideDifferencesView(found), bytes,
		"compare revisions that differ less, or send a part of the catalog")
}

// POST /api/v1.0/revisions/{revision}/puppet/diff/{other}
func (s *server) diffCatalog(w http.ResponseWriter, r *http.Request) error {
	infoOf(r).unchanged = true // it stores nothing
	catalog, size, end, err := s.readCatalog(w, r)
	if err != nil {
		return err
	}
	defer end()
	before, after, err := s.overridesPair(w, r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	found, err := queries.DiffCatalogs(r.Context(), before, after, catalog)
	if err != nil {
		return err
	}
	return s.writeDifferences(w, r, found, size+before.Size()+after.Size())
}

// nodeOf reads the node whose overrides are requested.
func nodeOf(q *params) puppet.Node {
	return puppet.Node{Name: q.text("node"), Role: q.text("role"), Cluster: q.text("cluster")}
}

// overrides returns the overrides of a revision. It disables compression of an answer that may contain secrets.
func (s *server) overrides(w http.ResponseWriter, r *http.Request, id int64, node puppet.Node) (
	queries.Overrides, error,
) {
	set, err := s.questions(r).Overrides(r.Context(), id, node)
	if set.IsSecret() {
		w.Header().Set("Cache-Control", noTransform)
	}
	return set, err
}

// overridesPair returns the overrides of the two revisions in the path.
func (s *server) overridesPair(w http.ResponseWriter, r *http.Request) (before, after queries.Overrides, err error) {
	q := paramsOf(r)
	node := nodeOf(q)
	if err := q.err(); err != nil {
		return before, after, err
	}
	from, to, err := s.revisionPair(r)
	if err != nil {
		return before, after, err
	}
	if before, err = s.overrides(w, r, from, node); err != nil {
		return before, after, err
	}
	after, err = s.overrides(w, r, to, node)
	return before, after, err
}

// readCatalog waits for memory and reads a catalog of size bytes; end releases the memory.
func (s *server) readCatalog(w http.ResponseWriter, r *http.Request) (
	catalog *puppet.Catalog, size int, end func(), err error,
) {
	if mediaOf(r) != document.JSON {
		return nil, 0, nil, fault.New(fault.UnsupportedType, "HTTPUnsupportedMediaType",
			"A catalog is JSON: send the output of \"puppet catalog compile NODE --render-as json\" with Content-Type: "+
				"application/json")
	}
	text, _, end, err := s.uploads.readLarge(w, r, s.Limits.Body)
	if err != nil {
		return nil, 0, nil, err
	}
	if catalog, err = queries.ReadCatalog(r.Context(), text); err != nil {
		end()
	}
	return catalog, len(text), end, err
}

func overrideName(set queries.Overrides, instance int) wire.OverrideName {
	doc := set.Documents[instance]
	return wire.OverrideName{Schema: doc.Schema, Name: doc.Name, Layer: wire.Optional(doc.Layer)}
}

// reportView returns the view of a report.
func reportView(set queries.Overrides, report puppet.Report) wire.Report {
	view := wire.Report{
		Revision: set.Revision.ID, Changes: []wire.Override{}, Skipped: []wire.Skip{}, Warnings: []wire.Warning{},
	}
	for _, change := range report.Changes {
		view.Changes = append(view.Changes, overrideView(set, change, false))
	}
	for _, skip := range report.Skipped {
		resource := skip.Ref.String()
		if skip.Ref.Title == "" {
			resource = skip.Ref.Type
		}
		view.Skipped = append(view.Skipped, wire.Skip{
			Resource: resource, By: overrideName(set, skip.Instance), Reason: skip.Reason,
		})
	}
	for _, warning := range report.Warnings {
		view.Warnings = append(view.Warnings, wire.Warning{
			Resource: warning.Ref.String(), By: overrideName(set, warning.Instance), Message: warning.Message,
		})
	}
	return view
}

// explainedResourceView returns the view of the changes of a resource by overrides.
func explainedResourceView(set queries.Overrides, ref puppet.Ref, changes []puppet.Change) wire.ExplainedResource {
	view := wire.ExplainedResource{Resource: ref.String(), Changes: []wire.Override{}}
	for _, change := range changes {
		view.Changes = append(view.Changes, overrideView(set, change, true))
	}
	return view
}

// overrideView returns the view of a change by an override. If values is set, it includes the values that are not
// secret.
func overrideView(set queries.Overrides, change puppet.Change, values bool) wire.Override {
	view := wire.Override{
		Resource: change.Ref.String(), Action: "updated", By: overrideName(set, change.Instance),
		Parameters: []wire.Setting{},
	}
	if change.Created {
		view.Action = "created"
	}
	for _, setting := range change.Settings {
		shown := wire.Setting{Name: setting.Parameter, From: "configuration", Added: setting.Added}
		if setting.Default {
			shown.From = "defaults"
		}
		if values && !set.Instances[change.Instance].Secret {
			shown.Value = document.AppendJSON(nil, setting.Value)
		}
		view.Parameters = append(view.Parameters, shown)
	}
	return view
}

// overrideDifferencesView returns the view of differences.
func overrideDifferencesView(found []puppet.Difference) wire.OverrideDifferences {
	view := wire.OverrideDifferences{Resources: []wire.ResourceDifference{}, Options: []wire.Altered{}}
	for _, d := range found {
		altered := []wire.Altered{}
		for _, p := range d.Parameters {
			altered = append(altered, wire.Altered{
				Name: p.Name, From: rawOf(p.From), To: rawOf(p.To), Sensitive: p.Sensitive,
			})
		}
		change := "changed"
		switch {
		case d.Ref == puppet.Ref{}:
			view.Options = altered
			continue
		case d.Added:
			change = "added"
		case d.Removed:
			change = "removed"
		}
		view.Resources = append(view.Resources, wire.ResourceDifference{
			Resource: d.Ref.String(), Change: change, Parameters: altered,
		})
	}
	return view
}

// rawOf returns a value as JSON text, nil for none.
func rawOf(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	return document.AppendJSON(nil, value)
}
