package propertygroups

import (
	"cmp"
	"slices"
	"strings"

	"purser/internal/document"
)

// limit is which versions of a client plugin know the properties of a group (spec/property-groups.md §2, "Versions").
type limit struct {
	plugin   string
	versions []version
	since    bool // the versions are the oldest, and not all, that do
}

// version is a client version. Its parts are the digits of its numbers, without leading and trailing zeros; nil if it
// is not numeric.
type version struct {
	text  string
	parts []string
}

// read adds the versions of a list, and tells whether it is one of versions.
func (l *limit) read(list []any) bool {
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
		return version{text: text} // each rule asks anew for the client's, which has to stay cheap
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

// admits tells whether a version knows the properties.
func (l *limit) admits(text string) bool {
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

// supports tells whether the rule's properties are known to the client. If not, each one that is specified is a
// violation.
func (c *check) supports(r *rule) bool {
	l := r.limit
	if l == nil {
		return true
	}
	c.spend(len(l.versions))
	v, isKnown := c.versions[l.plugin]
	if isKnown && l.admits(v) {
		return true
	}
	said := make(map[string]bool)
	w := pathWalk{visit: func(path []string) bool {
		if c.spend(1); c.specified(c.object, path) {
			if key := strings.Join(path, "\x00"); !said[key] {
				said[key] = true
				c.report(r, func() string { return l.violation(path, v, isKnown) })
			}
		}
		return !c.isStopped()
	}, step: func() { c.spend(1) }}
	w.walk(r.group)
	return false
}

// pathWalk visits the paths below a group, and each group but once.
type pathWalk struct {
	visit func(path []string) (more bool)
	step  func() // on the way to a group
	seen  map[*group]bool
}

func (w *pathWalk) walk(g *group) (more bool) {
	for _, o := range g.operands {
		if o.group == nil {
			if !w.visit(o.path) {
				return false
			}
			continue
		}
		w.step()
		if w.seen[o.group] {
			continue
		}
		if w.seen == nil {
			w.seen = make(map[*group]bool)
		}
		w.seen[o.group] = true
		if !w.walk(o.group) {
			return false
		}
	}
	return true
}
