// Package queries answers questions about revisions: their documents, as they were submitted and as they are rendered,
// how they differ, what their validations found, and whether they may be used. It changes nothing.
package queries
