// Package puppet overrides resources of compiled Puppet catalogs with the data of documents, as Fuel's
// override_resources type did inside the agent.
//
// Apply, its main function, is pure. It takes a catalog, instances (each the data of one document) and the known
// resource types, and returns another catalog with a report, or only problems.
//
//	instances ──entries──► find in the catalog ──► update, create or skip ──► relationships ──► catalog, report
//
// Invariants:
//   - A catalog is a JSON value. Apply preserves what it does not change: unknown keys, the order of keys, the spelling
//     of numbers.
//   - Values are immutable: Apply copies what it changes.
//   - Steps and bytes are counted in the request's budget while they are spent, those of a text before its values are
//     made. No recursion is as deep as a catalog is large. The errors of a function with a meter are the meter's,
//     returned unwrapped, unless its comment names others.
//   - Problems of a secret instance are marked Secret, and the parameters that it sets are listed in the resource's
//     sensitive_parameters.
//   - Ruby reads the YAML for Hiera as the same values, whatever their type.
package puppet
