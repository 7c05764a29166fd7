package authz

// AdminAPI is the rule that all other rules refer to by default.
const AdminAPI = "admin_api"

// Rules of Deckhand.
const (
	CreateCleartextDocuments = "deckhand:create_cleartext_documents"
	CreateEncryptedDocuments = "deckhand:create_encrypted_documents"
	ListCleartextDocuments   = "deckhand:list_cleartext_documents"
	ListEncryptedDocuments   = "deckhand:list_encrypted_documents"
	ShowRevision             = "deckhand:show_revision"
	ListRevisions            = "deckhand:list_revisions"
	DeleteRevisions          = "deckhand:delete_revisions"
	ShowRevisionDeepDiff     = "deckhand:show_revision_deepdiff"
	ShowRevisionDiff         = "deckhand:show_revision_diff"
	CreateTag                = "deckhand:create_tag"
	ShowTag                  = "deckhand:show_tag"
	ListTags                 = "deckhand:list_tags"
	DeleteTag                = "deckhand:delete_tag"
	DeleteTags               = "deckhand:delete_tags"
	CreateValidation         = "deckhand:create_validation"
	ListValidations          = "deckhand:list_validations"
	ShowValidation           = "deckhand:show_validation"
)

// Rules of routes that only Purser has.
const (
	PruneRevisions = "deckhand:prune_revisions"
	ShowAudit      = "deckhand:show_audit"
	ShowMetrics    = "deckhand:show_metrics"
	ListEvents     = "purser:list_events"
	ManageWebhooks = "purser:manage_webhooks"
)

// UseEncryptedDocuments is the rule of callers who may make documents depend on encrypted ones, and register schemas
// that check these: they can find out a secret by trial. By default all who may change documents pass it, as in
// Deckhand.
const UseEncryptedDocuments = "purser:use_encrypted_documents"

// Rule describes a rule to operators.
type Rule struct {
	Name        string
	Description string // the routes that need it; "" for a rule that only the file's other rules use
	Expression  string // in the form of check.String
}

// adminsOnly is the default expression of most rules.
const adminsOnly = "rule:" + AdminAPI

// registered lists the rules that routes use, with their defaults. Paths are relative to /api/v1.0.
var registered = []Rule{
	{AdminAPI, "the rule that the other rules refer to unless the access rules say otherwise", "role:admin"},
	{
		CreateCleartextDocuments,
		"PUT /buckets/{bucket}/documents and .../packages/{fullName}, PUT /changesets, POST /rollback/{revision}, POST " +
			"/packages/check", adminsOnly,
	},
	{
		CreateEncryptedDocuments,
		"the same, once a document is encrypted (for a rollback: one of the latest revision); POST /revisions/prune and " +
			"DELETE /revisions, if a version of an encrypted document would be deleted", adminsOnly,
	},
	{
		UseEncryptedDocuments,
		"changes that make documents substitute from encrypted ones or have one as their parent, or that register a schema " +
			"for a kind of which there are any", "rule:" + CreateCleartextDocuments,
	},
	{
		ListCleartextDocuments,
		"GET /revisions/{revision}/documents, .../rendered-documents, .../rendered-documents/explain, .../graph, " +
			".../schemas and .../docs, .../packages, .../packages/{fullName} and .../report, .../puppet/hiera, GET and POST " +
			".../puppet/diff/{other}, POST .../puppet/catalog; GET /buckets and /documents/.../history", adminsOnly,
	},
	{
		ListEncryptedDocuments,
		"encrypted documents in the same and in a deep diff; other callers get the cleartext documents", adminsOnly,
	},
	{ShowRevision, "GET /revisions/{revision} and .../status", adminsOnly},
	{ListRevisions, "GET /revisions", adminsOnly},
	{DeleteRevisions, "DELETE /revisions", adminsOnly},
	{PruneRevisions, "POST /revisions/prune", adminsOnly},
	{ShowRevisionDeepDiff, "GET /revisions/{revision}/deepdiff/{other}", adminsOnly},
	{ShowRevisionDiff, "GET /revisions/{revision}/diff/{other}", adminsOnly},
	{CreateTag, "POST /revisions/{revision}/tags/{tag}", adminsOnly},
	{ShowTag, "GET /revisions/{revision}/tags/{tag}", adminsOnly},
	{ListTags, "GET /revisions/{revision}/tags", adminsOnly},
	{DeleteTag, "DELETE /revisions/{revision}/tags/{tag}", adminsOnly},
	{DeleteTags, "DELETE /revisions/{revision}/tags", adminsOnly},
	{CreateValidation, "POST /revisions/{revision}/validations/{name}", adminsOnly},
	{
		ListValidations,
		"GET /revisions/{revision}/validations, .../detail and .../{name}, GET /revisions/{revision}/findings", adminsOnly,
	},
	{ShowValidation, "GET /revisions/{revision}/validations/{name}/entries/{entry}", adminsOnly},
	{ShowAudit, "GET /audit", adminsOnly},
	{ListEvents, "GET /events", adminsOnly},
	{ManageWebhooks, "all of /webhooks", adminsOnly},
	{ShowMetrics, "GET /metrics, which is not below /api/v1.0", adminsOnly},
}
