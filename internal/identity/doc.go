// Package identity finds out who a request comes from.
package identity
