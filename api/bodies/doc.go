// Package bodies reads the bodies of requests: it checks their media types, decompresses them and bounds their size.
//
// The memory of all uploads of documents is bounded too, and shared among the users. A body reserves it as it
// arrives: for its first bytes, then for as many again as it has, and keeps it until the documents are stored. So small
// bodies do not wait for large ones, and nobody gets memory by announcing a body. A body that waits for more while it
// keeps memory soon gives up, so that bodies do not wait for each other forever. Bodies that arrive too slowly are
// refused.
package bodies
