// Package evidence stores tags and posted results of revisions, and reads the evidence that verdicts are based on:
// revisions with their tags, the policies in force in them, and the newest result of each name. It implements the
// methods of revisions.Store and queries.Store for these. Its functions Ask… and Queue… add what other transactions
// read and write of results and policies.
//
// Results that are posted at the same time are written by one statement (posts.go). A write records its event and its
// entry in the audit in the same statement, and changes nothing if the revision has another stamp than it is meant for.
//
// Two caches save most reads: of parsed policies, by the digest of their content, and of the evidence about a revision
// by name, which is valid until the site has a newer event. Every transaction that changes evidence adds one.
package evidence
