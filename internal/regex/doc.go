// Package regex compiles the regular expressions that callers send, in RE2's syntax.
//
//	text → priced    by one pass over the text: what its parsing and its program will cost
//	     → refused   if it is too long, or would cost too much
//	     → parsed, compiled, and kept by its text, as are the errors
//
// The parser of package regexp can take a second and hundreds of megabytes for 4 KB: it writes out the ranges of each
// class such as \pL, and folds the characters of (?i) one by one. So the price is known, and counted, before it runs.
// The price is an upper bound that is close for ordinary expressions: a test compares both for generated ones.
package regex
