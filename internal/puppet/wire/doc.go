// Package wire reads and writes the texts that are exchanged with Puppet: compiled catalogs as JSON, and data for Hiera
// as JSON and YAML.
//
// Invariants:
//   - The steps and bytes of a text are counted in the request's budget before its values are made, or while it is
//     written.
//   - Numbers keep their spelling, and keys their order.
//   - Ruby reads the YAML as the same values, whatever their type.
package wire
