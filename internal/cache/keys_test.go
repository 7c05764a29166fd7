package cache_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// served are the folders of what a server runs.
var served = []string{"api", "internal", "cmd/server", "web"}

// withoutSite are the caches whose keys do not begin with the site, "package: type of the keys", each with the reason.
var withoutSite = map[string]string{
	"api: textKey": "a document in memory, which is of one site",
	"api: string":  "a question, whose text begins with the rights of the caller and the site: questionOf",
	"queries: any": "questions, which are the types below whose names end in Key",

	"authn: document.Digest": "digests of tokens, which are those of all sites",
	"metrics: struct{}":      "one value, of the default site or of the server",
	"regex: string": "texts of regular expressions, whose outcome depends on nothing else; time may tell that somebody uses " +
		"one, not who",

	"sites: int64":                               "turns of a list of names, which are those of all sites",
	"validations: Pair":                          "digests of a content and a schema, which a finding depends on, and on nothing else; of secrets, and of the site: OfSecret",
	"validations: document.Digest":               "digests of texts of schemas; of secrets, and of the site: ownSum",
	"rendering: document.Digest":                 "digests of all that an outcome depends on; of secrets, their references, which name the site",
	"rendering: weak.Pointer[document.Document]": "a document in memory, which is of one site",
}

// guarded are maps with a mutex, which may be caches, "package: type: field", each with the reason why
// its keys need no site.
var guarded = map[string]string{
	"api: uploads: users":         "uploads in progress by user, whose number is bounded over all sites",
	"budget: Shares: sites":       "what sites hold, by name",
	"budget: Shares: users":       "what users hold over all sites",
	"cache: Cache: calls":         "the calls of a cache, by its keys",
	"feed: Feed: inUse":           "sites by name",
	"fleet: Tally: of":            "sites by name, of one push",
	"store: announcements: sites": "sites by name",
	"webhooks: calls: receivers":  "calls in progress by receiver, of which sites have shares",
}

// code is the syntax of the packages.
type code struct {
	files map[string][]*ast.File // by the name of the package
	types map[string]ast.Expr    // by package and name
}

func read(t *testing.T) code {
	t.Helper()
	c := code{map[string][]*ast.File{}, map[string]ast.Expr{}}
	for _, folder := range served {
		err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			name := file.Name.Name
			c.files[name] = append(c.files[name], file)
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					c.types[name+"."+spec.Name.Name] = spec.Type
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// beginsWithSite reports whether the first field of a type of keys is the site.
func (c code) beginsWithSite(in string, key ast.Expr) bool {
	switch key := key.(type) {
	case *ast.Ident:
		of, known := c.types[in+"."+key.Name]
		return known && c.beginsWithSite(in, of)
	case *ast.SelectorExpr:
		from, _ := key.X.(*ast.Ident)
		return from != nil && c.beginsWithSite(from.Name, c.types[from.Name+"."+key.Sel.Name])
	case *ast.StructType:
		if len(key.Fields.List) == 0 {
			return false
		}
		first := key.Fields.List[0]
		if len(first.Names) == 0 {
			return c.beginsWithSite(in, first.Type)
		}
		name := strings.ToLower(first.Names[0].Name)
		return (name == "site" || in == "sites" && name == "name") && types.ExprString(first.Type) == "string"
	}
	return false
}

// keysOf returns the type of the keys if a call makes a cache, nil otherwise.
func keysOf(n ast.Node) ast.Expr {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	switch made := call.Fun.(type) {
	case *ast.IndexListExpr: // cache.New[K, V](size), lru.New[K, V](size), expirable.NewLRU[K, V](size, …)
		if name := types.ExprString(made.X); strings.Contains(name, ".New") {
			return made.Indices[0]
		}
	case *ast.SelectorExpr: // simplelru.NewLRU(size, func(key K, value V) …)
		if from, _ := made.X.(*ast.Ident); from != nil && strings.Contains(from.Name, "lru") && len(call.Args) > 1 {
			if evicted, ok := call.Args[1].(*ast.FuncLit); ok {
				return evicted.Type.Params.List[0].Type
			}
		}
	}
	return nil
}

// Each cache of the server has keys that begin with the site, so that nothing of one site is found for another.
func TestKeys_beginWithSite(t *testing.T) {
	t.Parallel()
	c := read(t)
	found, sited := map[string]bool{}, 0
	for in, files := range c.files {
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				if key := keysOf(n); key != nil && in != "cache" {
					if c.beginsWithSite(in, key) || in == "main" && types.ExprString(key) == "string" { // open sites, by name
						sited++
					} else {
						found[in+": "+types.ExprString(key)] = true
					}
				}
				return true
			})
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(withoutSite)), slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("caches whose keys do not begin with the site: say why, or add it (-known +found)\n%s", diff)
	}
	const least = 8
	if sited < least {
		t.Errorf("%d caches by site were found: does the test still see how they are made?", sited)
	}
	for name, of := range c.types { // of the answers that queries share
		kind, ok := strings.CutPrefix(name, "queries.")
		if ok && strings.HasSuffix(kind, "Key") && !ast.IsExported(kind) && kind != "findingKey" && !c.beginsWithSite("queries", of) {
			t.Errorf("%s does not begin with the site", name)
		}
	}
}

// A map beside a mutex is shared by requests. Each is by site, or it is said why not.
func TestKeys_sharedMaps(t *testing.T) {
	t.Parallel()
	c := read(t)
	found := map[string]bool{}
	for name, of := range c.types {
		structure, ok := of.(*ast.StructType)
		if !ok {
			continue
		}
		var locked bool
		var fields []string
		for _, field := range structure.Fields.List {
			text := types.ExprString(field.Type)
			locked = locked || strings.HasPrefix(text, "sync.Mutex") || strings.HasPrefix(text, "sync.RWMutex")
			kept, isMap := field.Type.(*ast.MapType)
			if isMap && !c.beginsWithSite(strings.Split(name, ".")[0], kept.Key) || text == "sync.Map" {
				for _, n := range field.Names {
					fields = append(fields, strings.Replace(name, ".", ": ", 1)+": "+n.Name)
				}
			}
		}
		for _, field := range fields {
			found[field] = found[field] || locked
		}
	}
	maps.DeleteFunc(found, func(_ string, locked bool) bool { return !locked })
	if diff := cmp.Diff(slices.Sorted(maps.Keys(guarded)), slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("maps shared by requests: say why they need no site (-known +found)\n%s", diff)
	}
}
