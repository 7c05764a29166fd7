// Package wire has the answers of the API that pages read and internal/client does not: values decoded from JSON, with
// methods for what templates show of them.
package wire
