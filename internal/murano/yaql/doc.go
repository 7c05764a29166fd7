// Package yaql reads expressions of YAQL, the query language of Murano: it says whether a text is one, and what it
// means. Nothing is evaluated.
//
// The grammar is that of the yaql library, in two settings: that of Murano's classes, and that of the forms of its
// dashboard (spec/murano.md §12).
package yaql
