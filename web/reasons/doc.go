// Package reasons says why a revision may not be deployed, and what to do about it: the verdict in words, the
// validations that policies require, with their newest results, and the findings of each document.
//
//	wire.Verdict, wire.Findings ── Of ──> Verdict
//	wire.Verdict ── RequiredOf ──> []Required ── ExpiringNext ──> the one to look at next
//	[]wire.Finding ── ByDocument ──> []Group
//
// It decides nothing: whether a revision may be deployed, and the advice for a finding, come from the API.
package reasons
