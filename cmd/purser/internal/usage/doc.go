// Package usage describes the command line of purser to shells and to man(1). It reads the definitions that also parse
// command lines, so that a new flag is completed and documented without further work.
//
//	kong's model ─> command, with subcommands, flags and arguments ─┬─> Completion: a script for a shell
//	                                                                └─> Manual: a page for each command
//
// Invariants:
//   - Hidden commands and flags appear nowhere.
//   - Texts are quoted for the shell or for man(7), whatever characters they have.
//   - Nothing is read or written apart from the arguments and results.
package usage
