// Package views formats answers of the API: values of the domain as the JSON, YAML and text that clients read. Its
// functions are pure and decide nothing: their arguments contain only data that the viewer may see.
package views
