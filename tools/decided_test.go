package tools_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tables in docs/development.md that say where something is decided or done name existing declarations.
func TestDecided(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/development.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("^\\| .+ \\| `(.+)` \\| `(.+)` \\|$")
	tables, rows := 0, 0
	lines := strings.Split(string(page), "\n")
	for i, line := range lines {
		if !strings.HasSuffix(line, "| file | name |") {
			continue
		}
		tables++
		for _, line := range lines[i+2:] {
			if line == "" {
				break
			}
			rows++
			if cells := row.FindStringSubmatch(line); cells == nil {
				t.Errorf("no text, file and name: %s", line)
			} else if err := declares(cells[1], cells[2]); err != nil {
				t.Error(err)
			}
		}
	}
	if tables < 8 || rows < 85 {
		t.Errorf("%d tables with %d rows", tables, rows)
	}
}

// declares returns an error unless a file declares a function, method or type of a name.
func declares(file, name string) error {
	code, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		return err
	}
	if !regexp.MustCompile(`(?m)^(func (\(.*\) )?|type )` + name + `\b`).Match(code) {
		return fmt.Errorf("%s declares no %s", file, name)
	}
	return nil
}

// The comment of a function begins with its name, or with the route of a handler.
func TestComments(t *testing.T) {
	t.Parallel()
	files, functions := token.NewFileSet(), 0
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if ast.IsGenerated(file) { // by make clients
			return nil
		}
		for _, declared := range file.Decls {
			f, isFunction := declared.(*ast.FuncDecl)
			if !isFunction || f.Doc == nil || f.Name.Name == "main" {
				continue
			}
			functions++
			first, rest, _ := strings.Cut(f.Doc.Text(), " ")
			if strings.Trim(first, ",.:\n") != f.Name.Name && !strings.HasPrefix(rest, "/") {
				t.Errorf("%s: the comment of %s begins with %q", files.Position(f.Pos()), f.Name.Name, first)
			}
		}
		return nil
	})
	if err != nil || functions < 2000 {
		t.Errorf("read %d functions: %v", functions, err)
	}
}
