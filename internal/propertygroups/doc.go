// Package propertygroups checks rules across the properties of one object, such as "a URL, or a host and a port", or
// "http3 only with client version 2". Two keywords of a schema object define them:
//
//	properties_groups_schema   nested expressions                (expressions.go)
//	property_groups            named groups that refer to others (named.go)
//
// Parse reads both into one model (groups.go), in which expressions and named groups are the same: an operator with
// operands, each a path or a group, and optionally the client versions that support them (plugins.go). It uses the
// declarations of the schema (shape.go) and the common part of all paths of a group (analyze.go). Check evaluates the
// model (check.go, truth.go, support.go) and words the violations (wording.go); Describe documents the rules
// (describe.go, cross.go). Examine finds the malformed groups of a whole schema document.
//
// Invariants:
//
//   - The package is pure: results depend only on the schema, the object and the versions, and are in declared order.
//   - Groups are immutable once parsed, and safe for concurrent use.
//   - Groups form a directed acyclic graph. Traversals visit a group once, or stop after a fixed number of steps or
//     bytes: thirty groups that refer twice to the next one have 2^30 paths through them.
//   - The cost of a check is counted while it runs. A check that exceeds the request's budget has no outcome.
//   - No message is longer than about 2 KiB, however long the names in it are.
package propertygroups
