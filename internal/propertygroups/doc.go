// Package propertygroups judges rules across the properties of one object: either this or those two, and these only
// with a client of version 2 (spec/property-groups.md). Two keywords of a schema object carry them:
//
//	properties_groups_schema   expressions within one another    (expressions.go)
//	property_groups            named groups that refer to others (named.go)
//
// Parse reads both into one model (groups.go), in which an expression and a named group are the same: an operator over
// operands, each a path or a group, and perhaps the client versions that know them (plugins.go). It knows what the
// schema declares (shape.go) and what lies below each group (settle.go). Check evaluates the model (check.go, truth.go,
// limits.go) and words what is violated (wording.go); Describe puts the rules themselves into words (describe.go,
// cross.go). Examine finds the malformed groups of a whole schema document.
//
// What always holds:
//
//   - The package is pure: nothing comes out but what the schema, the object and the versions say, in declared order.
//   - Groups do not change once parsed. They can be used by many goroutines.
//   - Groups form a directed acyclic graph. Whatever goes through it visits a group once, or stops after a fixed number
//     of steps or bytes: thirty groups that refer twice to the next one have 2^30 ways through them.
//   - What a check takes is counted while it is done. One that takes more than the request may spend has no outcome.
//   - No message is longer than about 2 KiB, however long the names in it are.
//
// What is not known here: the schema library, where in a document the object stands, and what a client version is for.
package propertygroups
