package changes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/propertygroups"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
	"purser/internal/validations"
)

// rewritten returns the snapshot of a site and the diff that makes it another one.
func rewritten(t *testing.T, before, after string) (snapshot revisions.Snapshot, diff revisions.Diff) {
	t.Helper()
	olds := map[document.Identity]*revisions.Stored{}
	for _, doc := range revisionstest.Parsed(t, before) {
		olds[doc.Identity] = doc
		snapshot.Documents = append(snapshot.Documents, doc)
	}
	for _, doc := range revisionstest.Parsed(t, after) {
		doc.ID += 1000
		old := olds[doc.Identity]
		delete(olds, doc.Identity)
		if old != nil && revisions.SameVersion(old, doc) {
			continue
		}
		if diff.Added = append(diff.Added, doc); old != nil {
			diff.Removed = append(diff.Removed, old)
		}
	}
	for _, old := range snapshot.Documents {
		if olds[old.Identity] != nil {
			diff.Removed = append(diff.Removed, old)
		}
	}
	return snapshot, diff
}

// A change adds the uses of encrypted documents that were not there before, whichever of the documents it changes,
// except by adding the encrypted one.
func TestRenderer_AddedUses(t *testing.T) {
	t.Parallel()
	const plain = "storagePolicy: cleartext"
	doc := func(schema, name, data string, metadata ...string) string {
		return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Document/v1, name: %s, %s}\ndata: %s\n", schema, name,
			strings.Join(metadata, ", "), data)
	}
	site, global := "layeringDefinition: {layer: site}", "layeringDefinition: {layer: global}"
	under := "layeringDefinition: {layer: site, parentSelector: {is: parent}, actions: [{method: merge, path: .}]}"
	takes := func(of, part string) string {
		return "substitutions: [{src: {schema: " + of + ", path: ." + part + "}, dest: {path: .x}}]"
	}
	const ofKey = "t/Key/v1, name: key"
	control := func(schema, name, data string) string {
		return strings.Replace(doc(schema, name, data, plain), "metadata/Document", "metadata/Control", 1)
	}
	schema := func(kind, data string) string { return control(validations.DataSchemaKind, kind, data) }
	lp := control("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: [global, site]}")
	key := doc("t/Key/v1", "key", "k", "storagePolicy: encrypted", site)
	parent := doc("t/Child/v1", "parent", "{p: k}", "storagePolicy: encrypted", "labels: {is: parent}", global)
	open := doc("t/Child/v1", "parent", "{p: k}", plain, "labels: {is: parent}", global)
	user := doc("t/User/v1", "user", "{}", plain, site, takes(ofKey, ""))
	child := doc("t/Child/v1", "child", "{}", plain, under)
	versioned := schema("t/V/v1", "{properties_groups_schema: [{API_VERSIONS: {CLIENT_PLUGIN: shop, VERSIONS: ['2'], PROPERTIES: [[size]]}}]}")
	versions := doc("purser/ClientVersions/v1", "cv", "{}", plain, site, strings.Replace(takes(ofKey, ""), "dest: {path: .x}", "dest: {path: .shop}", 1))
	override := doc("fuel/PuppetOverride/v1", "o", "{}", plain, site, takes(ofKey, ""))
	const substitutes, inherits, checks = "substitutes from one", "has one as its parent", "checks documents that depend on one"
	for name, c := range map[string]struct {
		before, after string
		want          []string // name: how
	}{
		"nothing encrypted":          {lp, open + child, nil},
		"a substitution":             {key, key + user, []string{"user: " + substitutes}},
		"one that was there":         {key + user, key + user + doc("t/W/v1", "w", "{}", plain, site), nil},
		"its document changes":       {key + user, key + strings.Replace(user, "data: {}", "data: {y: 1}", 1), nil},
		"another part of the secret": {key + user, key + strings.Replace(user, "path: .}, dest", "path: ., pattern: a}, dest", 1), []string{"user: " + substitutes}},
		"from what takes it":         {key + user, key + user + doc("t/B/v1", "b", "{}", plain, site, takes("t/User/v1, name: user", "x")), []string{"b: " + substitutes}},
		"a source in place of another": {
			lp + strings.Replace(key, "layer: site", "layer: global", 1) + strings.Replace(key, "encrypted", "cleartext", 1) + user,
			lp + strings.Replace(key, "layer: site", "layer: global", 1) + user,
			[]string{"user: " + substitutes},
		},
		"the secret comes later":       {user, user + key, nil},
		"both come":                    {"", user + key, []string{"user: " + substitutes}},
		"the secret is replaced":       {key + user, strings.Replace(key, "data: k", "data: l", 1) + user, nil},
		"a parent":                     {lp + parent, lp + parent + child, []string{"child: " + inherits}},
		"a parent that was there":      {lp + parent + child, lp + parent + strings.Replace(child, "data: {}", "data: {y: 1}", 1), nil},
		"a parent with other actions":  {lp + parent + child, lp + parent + strings.Replace(child, "method: merge", "method: replace", 1), []string{"child: " + inherits}},
		"a parent in place of another": {lp + open + child, lp + parent + child, nil},
		"a policy makes it a parent":   {strings.Replace(lp, "global, site", "site, global", 1) + parent + child, lp + parent + child, []string{"child: " + inherits}},
		"a schema":                     {key, key + schema("t/Key/v1", "{}"), nil},
		"a schema that checks":         {key, key + schema("t/Key/v1", "{enum: [a]}"), []string{"t/Key/v1: " + checks}},
		"a schema of another kind":     {key, key + schema("t/Other/v1", "{enum: [a]}"), nil},
		"a schema that was there":      {key + schema("t/Key/v1", "{enum: [a]}"), key + schema("t/Key/v1", "{enum: [a]}") + user + "", []string{"user: " + substitutes}},
		"a schema goes":                {key + schema("t/Key/v1", "{enum: [a]}"), key, nil},
		"the kind becomes secret":      {schema("t/Key/v1", "{enum: [a]}"), schema("t/Key/v1", "{enum: [a]}") + key, nil},
		"a schema that another refers to": {
			key + schema("t/Key/v1", "{$ref: t/Other/v1}") + schema("t/Other/v1", "{enum: [a]}"),
			key + schema("t/Key/v1", "{$ref: t/Other/v1}") + schema("t/Other/v1", "{enum: [b]}"),
			[]string{"t/Key/v1: " + checks},
		},
		"a schema for what takes it": {key + user, key + user + schema("t/User/v1", "{enum: [a]}"), []string{"t/User/v1: " + checks}},
		"secret client versions":     {key + versions, key + versions + versioned, []string{"t/V/v1: " + checks}},
		"a Puppet type":              {key + override, key + override + doc("fuel/PuppetType/v1", "file", "{}", plain, site), []string{"file: checks overrides that depend on one"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			snapshot, diff := rewritten(t, c.before, c.after)
			r := Renderer{Engine: validations.NewEngine(validations.Options{
				Extensions: []validations.Extension{propertygroups.Extension{}},
			})}
			uses, err := r.addedUses(t.Context(), snapshot, diff)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, u := range uses {
				got = append(got, u.By.Name+": "+u.How)
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("uses (-want +got)\n%s", diff)
			}
			if len(got) > 0 && !mayAddUses(diff) {
				t.Error("not even looked for")
			}
		})
	}
}

// Only a change that may add uses needs all documents to find them.
func TestMayAddUses(t *testing.T) {
	t.Parallel()
	doc := func(schema, name, metadata, data string) string {
		return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Document/v1, name: %s, layeringDefinition: {layer: site}, %s}\n"+
			"data: %s\n", schema, name, metadata, data)
	}
	const plain, takes = "storagePolicy: cleartext", "substitutions: [{src: {schema: t/K/v1, name: k, path: .}, dest: {path: .x}}]"
	below := strings.Replace(doc("t/W/v1", "w", plain, "{}"), "layer: site}", "layer: site, parentSelector: {c: d}}", 1)
	for name, c := range map[string]struct {
		before, after string
		want          bool
	}{
		"data":                  {doc("t/W/v1", "w", plain+", "+takes, "{a: 1}"), doc("t/W/v1", "w", plain+", "+takes, "{a: 2}"), false},
		"a secret":              {doc("t/W/v1", "w", "storagePolicy: encrypted", "a"), doc("t/W/v1", "w", "storagePolicy: encrypted", "b"), false},
		"a document":            {"", doc("t/W/v1", "w", plain+", labels: {a: b}", "{}"), false},
		"a secret document":     {"", doc("t/W/v1", "w", "storagePolicy: encrypted", "a"), true},
		"a substitution":        {doc("t/W/v1", "w", plain, "{}"), doc("t/W/v1", "w", plain+", "+takes, "{}"), true},
		"a document that takes": {"", doc("t/W/v1", "w", plain+", "+takes, "{}"), true},
		"a child":               {"", below, true},
		"labels":                {doc("t/W/v1", "w", plain, "{}"), doc("t/W/v1", "w", plain+", labels: {a: b}", "{}"), true},
		"a document goes":       {doc("t/W/v1", "w", plain, "{}"), "", true},
		"a DataSchema":          {"", doc(validations.DataSchemaKind, "t/W/v1", plain, "{}"), true},
		"the data of a Puppet type": {
			doc("fuel/PuppetType/v1", "w", plain, "{}"), doc("fuel/PuppetType/v1", "w", plain, "{a: 1}"), true,
		},
		"the data of a LayeringPolicy": {
			doc("deckhand/LayeringPolicy/v1", "w", plain, "{}"), doc("deckhand/LayeringPolicy/v1", "w", plain, "{a: 1}"), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, diff := rewritten(t, c.before, c.after); mayAddUses(diff) != c.want {
				t.Errorf("%v, want %v", !c.want, c.want)
			}
		})
	}
}

// A request whose work on documents of others is used up still reads the DataSchemas that it brings, at its own cost.
func TestService_checkUses_own(t *testing.T) {
	t.Parallel()
	ctx, end := budget.NewPool(1, time.Hour).Begin(t.Context())
	defer end()
	others := budget.NewMeter(ctx).ForOthers(0).Within(10 * budget.Second)
	if err := others.Spend(3 * budget.Second); err != nil {
		t.Fatal(err)
	}
	key := secret("key", "{x: 1}")
	snapshot, diff := rewritten(t, key, key+versioned())
	s, _ := service(keyword{})
	err := s.checkUses(ctx, nil, snapshot, diff, revisions.Options{WithoutUse: true})
	wantFault(t, err, fault.Forbidden, "would make documents depend on encrypted ones")
}
