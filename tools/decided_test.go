package tools_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table in docs/development.md that says where rules are decided names existing declarations.
func TestDecided(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/development.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "\n## Where is it decided?\n")
	table, _, _ := strings.Cut(after, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| .+\\? \\| `(.+)` \\| `(.+)` \\|$").FindAllStringSubmatch(table, -1)
	if lines := strings.Count(table, "\n|") - 2; len(rows) != lines || lines < 25 {
		t.Errorf("%d of %d rows are a question, a file and a name", len(rows), lines)
	}
	for _, row := range rows {
		code, err := os.ReadFile(filepath.Join("..", row[1]))
		if err != nil {
			t.Error(err)
		}
		if !regexp.MustCompile(`(?m)^(func (\(.*\) )?|type )` + row[2] + `\b`).Match(code) {
			t.Errorf("%s declares no %s", row[1], row[2])
		}
	}
}
