// Package puppet overrides resources of compiled Puppet catalogs with data of documents, as Fuel's override_resources
// type did inside the agent (spec/puppet.md; docs/puppet.md).
//
// It is a pure function: Apply takes a catalog, instances (each the data of one document) and the resource types that
// exist, and returns another catalog with a report, or all that is wrong and no catalog.
//
//	instances ──entries──► find in the catalog ──► update, create or skip ──► relationships ──► catalog, report
//
// Invariants:
//   - A catalog is a JSON value. What Apply does not change of it comes out as it came in: unknown keys, the order of
//     keys, the spelling of numbers.
//   - Values are immutable: Apply copies what it changes.
//   - Steps and bytes are counted in the request's budget while they are spent. Nothing recurses as deep as a catalog
//     is large.
//   - A message about a secret instance is marked, and the parameters that such an instance sets are listed in the
//     resource's sensitive_parameters.
package puppet
