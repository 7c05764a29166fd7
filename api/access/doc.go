// Package access decides who makes a request and whether they may: it authenticates the caller, counts the request and
// checks the rule of its route.
//
//	request ─token, certificate─► caller ─► viewer ─► rate ─► rule ─► nil, or a fault of 401, 429 or 403
//
// As in the reference, 401 comes before 403, and both come before anything is read or looked up. The caller, the rule
// and the viewer, who decides what the answer may show, are kept in the request's Info.
package access
