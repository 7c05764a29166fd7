// Package tree changes the data of one document while it is rendered.
//
// A Tree begins as a shared immutable value. A container is copied to an object or array before its first change, and
// modified in place afterwards. Objects and arrays never leave the tree: Freeze converts them to immutable values.
//
//	value ──New──► Tree ──Apply (actions), Write (substitutions)──► Tree ──Freeze──► value
//
// Each change counts its steps and bytes before it is made. The size of the data is followed with each change, and
// bounded; that of a large value is measured once, and its keys are indexed once they are often looked up (Memo).
package tree
