package schemadocs

import (
	"strconv"
	"strings"
	"unicode"
)

// anchors gives headings their anchors, as GitHub and those who follow it do: so links also work where the Markdown is
// shown by others.
type anchors struct{ taken map[string]int }

// of returns the anchor of the next heading; headings are asked for in the order of the page.
func (a *anchors) of(heading string) string {
	slug := slugOf(heading)
	if slug == "" {
		slug = "section"
	}
	if a.taken == nil {
		a.taken = make(map[string]int)
	}
	anchor := slug
	for {
		if _, ok := a.taken[anchor]; !ok {
			break
		}
		a.taken[slug]++
		anchor = slug + "-" + strconv.Itoa(a.taken[slug])
	}
	a.taken[anchor] = 0
	return anchor
}

func slugOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.M, r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
