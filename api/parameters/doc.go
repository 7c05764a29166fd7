// Package parameters reads the parameters in the query of a request's URL.
//
//	request ─Check─► known parameters only ─Of─► Query ─Text, Count, Flag, Selection …─► values
//	                                             Query ─Err─► the first fault
//
// Reading a parameter that is invalid returns a value that must not be used: a handler reads all that it needs and then
// asks Err once. So a caller learns about the first parameter that is wrong, in the order in which they are read.
//
// Every value is bounded here: their number, and numbers so that sums with them do not overflow.
package parameters
