package changes

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/cache"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// tester is the common part of testing.TB and rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// exported lets cmp compare the unexported fields of all types.
func exported() cmp.Option { return cmp.Exporter(func(reflect.Type) bool { return true }) }

// at is the fixed time of all tests.
func at() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// widget returns the text of a document with data; metadata are further lines such as "labels: {a: b}".
func widget(name, data string, metadata ...string) string {
	return text("acme/Widget/v1", "metadata/Document/v1", name, data,
		append([]string{"layeringDefinition: {layer: site}", "storagePolicy: cleartext"}, metadata...)...)
}

// secret returns the text of an encrypted document.
func secret(name, data string) string {
	return strings.Replace(widget(name, data), "storagePolicy: cleartext", "storagePolicy: encrypted", 1)
}

// control returns the text of a control document.
func control(schema, name, data string) string {
	return text(schema, "metadata/Control/v1", name, data)
}

func text(schema, kind, name, data string, metadata ...string) string {
	lines := append([]string{"schema: " + kind, "name: " + name}, metadata...)
	return fmt.Sprintf("---\nschema: %s\nmetadata:\n  %s\ndata: %s\n", schema, strings.Join(lines, "\n  "), data)
}

// inBucket adds the name of a bucket to a document of a change set.
func inBucket(bucket, text string) string {
	return text + fmt.Sprintf("status: {bucket: %s}\n", bucket)
}

func layeringPolicy(name string) string {
	return control("deckhand/LayeringPolicy/v1", name, "{layerOrder: [global, site]}")
}

// dataSchema returns a DataSchema that requires the property x of widgets to have a type.
func dataSchema(kind string) string {
	return control(validations.DataSchemaKind, "acme/Widget/v1", "{properties: {x: {type: "+kind+"}}}")
}

func clientVersions(data string) string {
	return control(validations.ClientVersionsKind, "versions", data)
}

// validationPolicy returns a ValidationPolicy that requires validations.
func validationPolicy(required ...string) string {
	var list []string
	for _, name := range required {
		list = append(list, "{name: "+name+"}")
	}
	return control("deckhand/ValidationPolicy/v1", "policy", "{validations: ["+strings.Join(list, ", ")+"]}")
}

// service returns a service over an empty site in memory.
func service(extensions ...validations.Extension) (*Service, *memory) {
	m := newMemory()
	const cacheSize = 1 << 20
	return NewService(Config{
		DefaultValidations: revisions.Defaults{validations.SchemaValidation},
		Site:               revisions.DefaultSite, Store: m, Engine: validations.NewEngine(validations.Options{Extensions: extensions}),
		Limits:   document.DefaultLimits(),
		Rendered: cache.New[RenderKey, Rendering](cacheSize), Now: at, Observe: func(string, time.Duration) {},
	}), m
}

// put fills a bucket and fails the test on an error.
func put(t tester, s *Service, bucket, body string) Written {
	t.Helper()
	written, err := s.Put(context.Background(), bucket, []byte(body), document.YAML, revisions.Options{})
	if err != nil {
		t.Fatalf("put %s: %v", bucket, err)
	}
	return written
}

// payload parses a body and decodes documents that are not in the buckets. Without a bucket, documents name their own.
func payload(t tester, s *Service, bucket, body string, buckets ...string) Payload {
	t.Helper()
	p, err := s.parse(context.Background(), []byte(body), document.YAML, bucket, buckets)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = s.decodeCached(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	return p
}

// needed reads the parts of the site needed to plan a payload.
func needed(t tester, s *Service, p Payload) revisions.Snapshot {
	t.Helper()
	snapshot, err := s.Store.Snapshot(context.Background(), p.need())
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// changed is a change that was planned and judged, but not stored.
type changed struct {
	snapshot  revisions.Snapshot
	diff      revisions.Diff
	judgement Judgement
}

// judgingPut plans and judges a PUT.
func judgingPut(ctx context.Context, t tester, s *Service, bucket, body string) (changed, error) {
	t.Helper()
	p := payload(t, s, bucket, body, bucket) //nolint:contextcheck // decoded before the context matters
	return judgingSource(ctx, s, payloadSource{s, p})
}

func judgingSource(ctx context.Context, s *Service, from source) (c changed, err error) {
	options := revisions.Options{Viewer: authz.Viewer{Encrypted: true}}
	p, err := s.prepare(ctx, proposal{from: from, options: options})
	if c.snapshot, c.diff = p.snapshot, p.diff; err != nil || !p.diff.Changes {
		return c, err
	}
	c.judgement, err = s.newValidator(options).Validate(ctx, c.snapshot, c.diff)
	return c, err
}

// judged is judgingPut that fails the test on an error.
func judged(t testing.TB, s *Service, bucket, body string) changed {
	t.Helper()
	c, err := judgingPut(t.Context(), t, s, bucket, body)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantFault checks the kind of an error and a part of its message.
func wantFault(t testing.TB, err error, kind fault.Kind, part string) {
	t.Helper()
	if err == nil || fault.KindOf(err) != kind || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v (kind %v), want one of kind %v with %q", err, fault.KindOf(err), kind, part)
	}
}
