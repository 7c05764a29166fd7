// Package fleet copies the documents of a bucket of one site to many: which sites, in which order, what each says
// before, and what became of it.
//
//	sites of a list ─> Waves ─> Push.Run ─┬─ dry run ─> Judge ─> Outcome
//	                                      └─ change, unless it would fail
//	                            Outcome ─> Groups, Report
//
// Invariants:
//   - A site is changed only in the state that its dry run was about, and only if it does not begin to fail.
//   - Of a site only the number of its group is kept. Outcomes that are the same but for the name of the site, numbers
//     of revisions and times are one group, whose text is kept once; texts and groups are bounded.
package fleet
