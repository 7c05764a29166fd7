// Package rendering computes the documents that services read: layered, substituted and replaced.
//
// It is a pure function. A run reads each document's metadata once, finds how the documents depend on each other, and
// computes them in that order:
//
//	documents ──readAll (metadata.go)──► nodes ──order (relate.go)──► nodes, dependencies first ──┐
//	                                                                                              ▼
//	rendered ◄── compute (compute.go): for each a tree of its parent's data, its actions, its substitutions
//
// relate finds layers, parents (parents.go), replacements and the sources of substitutions; Dependencies returns them
// as a Graph, and NeedsOf what some documents need. A tree (tree.go) is the data of one document while it changes:
//
//	value ──newTree──► tree ──apply (actions), substitute──► tree ──freeze──► value
//
// Explain computes documents in the same way, with a history of each, and follows values back through them (trail.go).
//
// Invariants:
//   - The output depends only on the documents; their order affects only the order of the output and of the faults.
//   - A fault of a document does not end a rendering: the document, and those that depend on it, have it as their cause
//     and are not rendered. The first fault is the one that Deckhand reports.
//   - Relations depend on identities and metadata, and on no data except the layers of the LayeringPolicy.
//   - Values are immutable and shared: a child shares unchanged parts with its parent, and a destination its value with
//     the source. Only a tree writes, to containers that it has copied: to objects and arrays, which never leave it,
//     because freeze converts them. So changes of one document do not affect others.
//   - A document that is not computed is not even parsed, unless another one reads it.
//   - Steps and bytes are counted while they are spent (meter.go); the size and depth of rendered data are bounded too.
//     Loops count and end early once err is set, and callers look at it between two operations. A context that ends
//     stops the work. The request pays for documents that it brings; the work on others, and what documents share, is
//     that of budget.Meter.ForOthers (compute.go).
//   - A document that takes more steps than its size and that of its sources allow is refused alone. Whether it does
//     depends on nothing that was done for others: work that documents share counts for none of them.
//   - A Cache has outcomes of earlier renderings, by digests of their inputs, so that after a change only documents
//     that depend on it are read and computed again: data with its warnings, or refusals. Instead of secrets, digests
//     depend on the references to them. A rendering that withholds computes nothing that depends on a secret, and
//     takes nothing of it from the Cache. No outcome is kept after a secret was not found.
//   - Faults and warnings are noted in few bytes, and worded only if an outcome lists them.
//   - Values are the same whether a document is explained or rendered.
//   - Every refusal is a fault that names the documents it is about, by Deckhand's class and text, never with a value
//     of their data.
package rendering
