package tools_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	code    = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]+`")
)

// pages returns the text of README.md and of each page of the docs, by path, without its code.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, "../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = code.ReplaceAllString(string(text), "")
	}
	return texts
}

// anchors returns the names by which links reach the headings of a page, as GitHub and GitLab make them.
func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"": true}
	for _, found := range heading.FindAllStringSubmatch(string(text), -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(found[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// Links of the pages lead to files and headings that exist.
func TestPages_links(t *testing.T) {
	t.Parallel()
	seen := 0
	for page, text := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			path, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			seen++
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if anchor != "" && !anchors(t, target)[anchor] {
				t.Errorf("%s: %s has no heading #%s", page, target, anchor)
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d links", seen)
	}
}

// README.md explains each word of the glossary, by a link at its first use; only the words for operators and for searching
// are first used on other pages.
func TestPages_glossary(t *testing.T) {
	t.Parallel()
	all := pages(t)
	elsewhere := map[string]string{"access-rules": "../docs/running.md", "waiver": "../docs/api.md"}
	words := anchors(t, "../docs/glossary.md")
	if delete(words, ""); len(words) < 11 {
		t.Errorf("only %d words", len(words))
	}
	delete(words, "glossary") // the title
	for word := range words {
		page, target := "../README.md", "docs/glossary.md#"+word
		if other, ok := elsewhere[word]; ok {
			page, target = other, "glossary.md#"+word
		}
		if !strings.Contains(all[page], "]("+target+")") {
			t.Errorf("%s does not link to %s", page, target)
		}
	}
}
