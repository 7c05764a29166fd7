// Package picture draws the dependencies of documents: as the text that Graphviz reads, and through its program dot as
// SVG.
//
// Text is a pure function of the graph. Layers are clusters that follow each other from the most general to the most
// specific; in each, the documents of a schema are the rows of a table, so that a site of hundreds of documents makes
// some dozens of boxes:
//
//	general ◄── … ◄── specific ──► missing      (arrows point to dependencies)
//
// Unconnected documents are in one table per layer. Text from documents is
// untrusted: it gets into the text quoted, and never as markup.
package picture
