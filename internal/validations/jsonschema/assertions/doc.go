// Package assertions checks values against the keywords of a schema that need no other schema: type, enum, const,
// bounds, pattern, format, required and dependencies.
//
//	schema → Read → Types, Set           once, when the schema is compiled
//	value  → Types.Has, Set.Check → the assertions that fail
//
// Numbers are compared exactly, by their decimal digits, rather than as binary fractions: 0.3 is a multiple of 0.1. No
// digits are written out for an exponent, so the cost is that of the number's text. Values are equal if they have
// the same text, in which equal numbers are written alike and the keys of objects are sorted. So a value is found among
// many, or two equal items in a list, in linear time.
package assertions
