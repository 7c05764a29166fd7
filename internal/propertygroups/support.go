package propertygroups

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/validations"
	"purser/internal/words"
)

// support lists the versions of a client plugin that support the properties of a group.
type support struct {
	plugin   string
	versions []version
	since    bool // newer versions support them, too
}

// version is a client version. Its parts are its numbers without leading zeros, and without trailing parts that are
// zero; nil if it is not numeric.
type version struct {
	text  string
	parts []string
}

// read adds the versions of a list and reports whether all items are versions.
func (l *support) read(list []any) bool {
	for _, item := range list {
		var v version
		switch item := item.(type) {
		case string:
			v = versionOf(item)
		case document.Number:
			v = versionOf(string(item))
		}
		if v.text == "" || l.since && v.parts == nil {
			return false
		}
		l.versions = append(l.versions, v)
	}
	return len(list) > 0
}

func versionOf(text string) version {
	if len(text) > maxName {
		return version{text: text} // too long to parse for each rule
	}
	parts := strings.Split(strings.TrimPrefix(text, "v"), ".")
	for i, part := range parts {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return version{text: text}
		}
		parts[i] = strings.TrimLeft(part, "0")
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return version{text, parts}
}

// compare compares numeric versions.
func (v version) compare(w version) int {
	return slices.CompareFunc(v.parts, w.parts, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
}

// admits reports whether a version supports the properties.
func (l *support) admits(text string) bool {
	v := versionOf(text)
	return slices.ContainsFunc(l.versions, func(w version) bool {
		switch {
		case v.parts == nil || w.parts == nil:
			return !l.since && v.text == w.text
		case l.since:
			return v.compare(w) >= 0
		}
		return v.compare(w) == 0
	})
}

// supports reports whether the client supports the rule's properties. If not, it reports each specified one as a
// violation.
func (c *check) supports(r *rule) bool {
	l := r.support
	if l == nil {
		return true
	}
	c.spend(len(l.versions))
	v, isKnown := c.versions[l.plugin]
	if isKnown && l.admits(v) {
		return true
	}
	shown := words.FirstBytes(v, maxName)
	if validations.AreSecretVersions(c.versions) {
		shown = secretVersion
	}
	reported := make(map[string]bool)
	for path := range r.group.paths(func() { c.spend(1) }) {
		if c.spend(1); c.specified(c.object, path) {
			if key := strings.Join(path, "\x00"); !reported[key] {
				reported[key] = true
				c.report(r, func() string { return l.violation(path, shown, isKnown) })
			}
		}
		if c.isStopped() {
			break
		}
	}
	return false
}

// paths yields the paths below a group. It visits each group only once, and calls step for each reference to one.
func (g *group) paths(step func()) iter.Seq[[]string] {
	return func(yield func(path []string) bool) {
		visited := make(map[*group]bool)
		var visit func(g *group) (more bool)
		visit = func(g *group) bool {
			for _, o := range g.operands {
				if o.group == nil {
					if !yield(o.path) {
						return false
					}
					continue
				}
				if step(); visited[o.group] {
					continue
				}
				if visited[o.group] = true; !visit(o.group) {
					return false
				}
			}
			return true
		}
		visit(g)
	}
}
