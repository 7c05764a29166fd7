// Package views formats domain values as the JSON, YAML and text of the API's answers (spec/api.md). Its functions are
// pure and make no access decisions: callers pass only values that the viewer may see.
package views
