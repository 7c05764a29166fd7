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
	CreateWaiver   = "purser:create_waiver"
	ManageSites    = "purser:manage_sites"
)

// Rules of the built-in roles beside admin. Each says who has the role; the rules of routes refer to them by default. A
// file that names one gives the role to others, such as the readers of one project, and one that checks role:reader
// without it takes the role's rights into its own hands.
const (
	Reader    = "purser:reader"
	Writer    = "purser:writer"
	Validator = "purser:validator"
)

// Role is a built-in role.
type Role struct{ Name, Rule, Rights string }

// Roles returns the built-in roles, those with fewer rights first.
func Roles() []Role {
	return []Role{
		{"reader", Reader, "reads documents, renderings and verdicts, but nothing encrypted"},
		{"validator", Validator, "reads the same and posts results of validations"},
		{
			"writer", Writer, "reads the same, changes documents that are not encrypted and may have them take values from " +
				"encrypted ones, rolls back, and tags revisions",
		},
		{"admin", AdminAPI, "may do everything"},
	}
}

// Defaults selects the default rules, which a policy file replaces one by one.
type Defaults uint8

const (
	// AdminsOnly are Deckhand's: only admins pass the rules that a file does not name.
	AdminsOnly Defaults = iota
	// WithRoles are those of a server that issues its tokens itself, so that a role called reader is meant to be the
	// built-in one.
	WithRoles
)

// expression returns the default expression of a rule. With AdminsOnly nobody has the built-in roles beside admin.
func (d Defaults) expression(of Rule) string {
	if d == AdminsOnly && (of.Name == Reader || of.Name == Writer || of.Name == Validator) {
		return noCaller
	}
	return of.Expression
}

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

// Default expressions of rules. They name each role instead of having one imply another: a file that gives a role to
// others then changes nothing about the other roles.
const (
	noCaller      = "!"
	adminsOnly    = "rule:" + AdminAPI
	forWriters    = adminsOnly + " or rule:" + Writer
	forValidators = adminsOnly + " or rule:" + Validator
	forReaders    = forWriters + " or rule:" + Validator + " or rule:" + Reader
)

// registered lists the rules that routes use, and those of the roles, with their defaults. Paths are relative to
// /api/v1.0.
var registered = []Rule{
	{AdminAPI, "the rule that the other rules refer to unless the access rules say otherwise", "role:admin"},
	{Reader, "the built-in role that reads everything but encrypted documents", "role:reader"},
	{Writer, "the built-in role that also changes cleartext documents and tags", "role:writer"},
	{Validator, "the built-in role that reads like a reader and posts results of validations", "role:validator"},
	{
		CreateCleartextDocuments,
		"PUT /buckets/{bucket}/documents and .../packages/{fullName}, PUT /changesets, POST /rollback/{revision}, POST " +
			"/packages/check", forWriters,
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
			".../puppet/diff/{other}, POST .../puppet/catalog; GET /buckets and /documents/.../history", forReaders,
	},
	{
		ListEncryptedDocuments,
		"encrypted documents in the same and in a deep diff; other callers get the cleartext documents", adminsOnly,
	},
	{ShowRevision, "GET /revisions/{revision} and .../status", forReaders},
	{ListRevisions, "GET /revisions; which sites GET /sites and /sites/{site} show", forReaders},
	{DeleteRevisions, "DELETE /revisions", adminsOnly},
	{PruneRevisions, "POST /revisions/prune", adminsOnly},
	{ShowRevisionDeepDiff, "GET /revisions/{revision}/deepdiff/{other}", forReaders},
	{ShowRevisionDiff, "GET /revisions/{revision}/diff/{other}", forReaders},
	{CreateTag, "POST /revisions/{revision}/tags/{tag}", forWriters},
	{ShowTag, "GET /revisions/{revision}/tags/{tag}", forReaders},
	{ListTags, "GET /revisions/{revision}/tags", forReaders},
	{DeleteTag, "DELETE /revisions/{revision}/tags/{tag}", forWriters},
	{DeleteTags, "DELETE /revisions/{revision}/tags", adminsOnly},
	{CreateValidation, "POST /revisions/{revision}/validations/{name}", forValidators},
	{
		ListValidations,
		"GET /revisions/{revision}/validations, .../detail and .../{name}, GET /revisions/{revision}/findings and " +
			".../waivers, GET /waivers", forReaders,
	},
	{ShowValidation, "GET /revisions/{revision}/validations/{name}/entries/{entry}", forReaders},
	{
		CreateWaiver,
		"POST /revisions/{revision}/waivers and DELETE .../waivers/{id}: lets a validation that is not a success count " +
			"as one", adminsOnly,
	},
	{ShowAudit, "GET /audit", adminsOnly},
	{ListEvents, "GET /events", forReaders},
	{ManageWebhooks, "all of /webhooks", adminsOnly},
	{ManageSites, "PUT and DELETE /sites/{site}, which is not below /api/v1.0", adminsOnly},
	{ShowMetrics, "GET /metrics, which is not below /api/v1.0", forReaders},
}
