package tools_test

import (
	"fmt"
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
	if tables < 5 || rows < 60 {
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
