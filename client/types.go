package client

import (
	"purser/internal/client"
	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/validations"
	"purser/internal/wire"
)

// What requests take.
type (
	// Change has the options of a change.
	Change = client.Change
	// TLS has the names of the files for TLS connections.
	TLS = client.TLS
)

// What all answers have.
type (
	// Written is the result of a change.
	Written = client.Written
	// Answer is an answer: its status, header and body.
	Answer = client.Answer
	// Error is an error that the server answered.
	Error = client.Error
	// Message is an item of an error's message list.
	Message = client.Message
	// Optional is text that is null in JSON if it is empty.
	Optional = wire.Optional
)

// The status of a revision.
type (
	// Verdict is the status of a revision.
	Verdict = wire.Verdict
	// Policy is a ValidationPolicy of a Verdict.
	Policy = wire.Policy
	// Validation is the outcome of a validation.
	Validation = wire.Validation
	// Waived is a waiver because of which a Validation does not fail.
	Waived = wire.Waived
	// Claimed is a worker's claim to a Validation that lacks a result.
	Claimed = wire.Claimed
	// Newest is the newest posted result of a Validation.
	Newest = wire.Newest
	// Validator is the program that has posted a result.
	Validator = wire.Validator
	// Posted is the answer to a result.
	Posted = wire.Posted
)

// The details of a Verdict.
type (
	// Details are what else one may ask for with a Verdict.
	Details = wire.Details
	// ValidationList is a list of validations.
	ValidationList = wire.List[wire.Validation]
	// Revisions is a page of revisions with the last purge.
	Revisions = wire.Revisions
	// RevisionList is a list of revisions.
	RevisionList = wire.List[wire.Revision]
	// Purge is the time, author and reason of a purge.
	Purge = wire.Purge
	// Effect has the numbers of versions of documents that a Revision begins and ends.
	Effect = events.Effect
	// Upstream is a bucket of a revision of another site that the documents of a bucket were copied from.
	Upstream = events.Upstream
	// BucketList is a list of buckets.
	BucketList = wire.List[wire.Bucket]
	// Bucket is a bucket and its last change.
	Bucket = wire.Bucket
	// Last is the last change of a Bucket.
	Last = wire.Last
)

// Revisions.
type (
	// Revision is a revision.
	Revision = wire.Revision
	// Tags are the tags of a Revision: names in a list of revisions, data of each by its name otherwise.
	Tags = wire.Tags
)

// Findings.
type (
	// Findings lists the findings of a revision.
	Findings = wire.Findings
	// Finding is one problem.
	Finding = wire.Finding
	// Other is another document that a Finding is about.
	Other = wire.Other
	// Violation is an error in a branch of an anyOf or oneOf, which explains a Finding.
	Violation = validations.Cause
	// Counts are the numbers of findings.
	Counts = wire.Counts
	// Cause is a group of similar findings.
	Cause = wire.Cause
	// Number is the number of findings of a validation.
	Number = wire.Number
)

// Dry runs.
type (
	// Preview is the answer to a dry run, with the findings that Change.Findings asks for.
	Preview = wire.Preview[wire.Finding]
	// Changes are the numbers of documents that a change adds, modifies, deletes and leaves as they are.
	Changes = wire.Changes
	// Difference names a document and its change.
	Difference = wire.Difference
	// Rendered says which rendered documents would change, or differ.
	Rendered = wire.Rendered
	// RenderedDifference is a difference that is the same in some rendered documents.
	RenderedDifference = wire.RenderedDifference
	// UnrenderedSide is a revision that cannot be rendered, and why.
	UnrenderedSide = wire.UnrenderedSide
	// Failing names documents that begin to fail.
	Failing = wire.Failing
	// PreviewResult is the result that a validation of the whole revision would have.
	PreviewResult = wire.Result
)

// Documents.
type (
	// Identity identifies a document and its bucket.
	Identity = wire.Identity
	// DocumentName identifies a document without its bucket.
	DocumentName = document.Identity
)
