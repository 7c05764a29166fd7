// Package graph turns the dependencies between documents into what pages show: a picture with links, a list, and the
// neighbours of one document.
//
//	Graphviz's SVG ── Drawing ──> a part of a page
//	wire.Graph ── List, Neighbours ──> documents, with the kinds or the number of their dependencies
//
// Invariant: a picture has only the elements and attributes of an allowlist, whatever a document is called.
package graph
