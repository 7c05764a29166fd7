// Package purser holds the contract of the service's HTTP interface.
package purser

import _ "embed"

// OpenAPI is the text of openapi.yaml, which the server serves and the end-to-end tests check it against.
//
//go:embed openapi.yaml
var OpenAPI []byte
