// Package bodies reads the bodies of requests: it checks their media types, decompresses them and bounds their size.
//
// The memory of all uploads of documents is bounded too. Each reserves what its body may need before it is read, and
// keeps it until the documents are stored; requests wait for memory in the order in which they arrive.
package bodies
