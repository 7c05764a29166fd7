// Package yaql parses expressions of YAQL, the query language of Murano. It does not evaluate them.
//
// The grammar is that of the yaql library, with the settings of Murano's classes or of the forms of its dashboard.
package yaql
