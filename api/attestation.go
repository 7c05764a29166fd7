package api

import (
	"net/http"

	"purser/internal/attest"
	"purser/internal/fault"
)

// Signer signs statements.
type Signer interface {
	// Sign returns an envelope with a statement.
	Sign(statement attest.Statement) ([]byte, error)
	// Public returns the keys that signatures are verified with, those that will sign later included.
	Public() []attest.Key
}

// GET /api/v1.0/revisions/{revision}/attestation
func (s *server) attestation(w http.ResponseWriter, r *http.Request) error {
	if s.Signer == nil {
		return withoutSigner()
	}
	facts, err := s.questions(r).Attested(r.Context(), revisionName(r, "revision"))
	if err != nil {
		return err
	}
	infoOf(r).revision = facts.Revision
	if len(facts.Rendered.NotCovered) > 0 { // the statement names documents
		if err := s.require(r, readDocuments); err != nil {
			return err
		}
	}
	facts.Server = s.PublicURL
	envelope, err := s.Signer.Sign(facts.Statement())
	if err != nil {
		return err
	}
	if err := checkAnswerSize(len(envelope), 0, "it names too many documents that need encrypted ones"); err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store") // each has a time and a signature of its own
	s.answers.deliver(w, r, http.StatusOK, typeJSON, envelope)
	return nil
}

// keysPath is the path of the public keys.
const keysPath = "/.well-known/purser-keys"

// GET /.well-known/purser-keys
func (s *server) publicKeys(w http.ResponseWriter, r *http.Request) error {
	if s.Signer == nil {
		return withoutSigner()
	}
	text, err := attest.JWKS(s.Signer.Public())
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "public, max-age=300")
	s.answers.send(w, r, http.StatusOK, typeJSON, text, "")
	return nil
}

// withoutSigner returns the fault of a server without signing keys.
func withoutSigner() error {
	return fault.New(fault.Unimplemented, "HTTPNotImplemented", "This server has no keys to sign verdicts with: make "+
		"them with purser-server keys new --signing-keyset FILE, and start it with --signing-keyset FILE")
}
