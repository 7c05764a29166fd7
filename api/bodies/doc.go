// Package bodies reads the bodies of requests: it checks their media types, decompresses them and bounds their size.
//
// The memory of all uploads of documents is bounded too, and shared among the users. A body reserves it in two steps,
// for its first bytes and, once these have arrived, for the rest, and keeps it until the documents are stored. So small
// bodies do not wait for large ones. Bodies that arrive too slowly are refused.
package bodies
