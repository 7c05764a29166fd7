// Package deletion deletes revisions and the data that no other revision needs: versions of documents, contents,
// entries of schema validations, violations, outcomes of checks. It implements the Prune and Purge of revisions.Store.
//
// A purge is one transaction, which holds the site's counters from its first statement on, and resets them.
//
// A prune first deletes the revisions, all in one transaction that holds the site's counters only at its end: from then
// on they are gone for everybody. Data that no remaining revision needs is deleted after that, in steps (sweep.go).
// Each step is a transaction of its own and finds the remaining work itself, so a prune may end after any of them, and
// the next one continues:
//
//	delete revisions ─► entries ─► violations ─► versions of documents ─► contents ─► outcomes of checks
//		─► occupancies ─► (vacuum)
//
// No step holds the counters longer than a few milliseconds, and there is a pause after each.
package deletion
