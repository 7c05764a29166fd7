// Package views writes what the API answers: values of the domain as the JSON, YAML and text that clients read
// (spec/api.md). Its functions are pure, and decide nothing: what a viewer may not see is not in what they are given.
package views
