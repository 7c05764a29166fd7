package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

// PUT /api/v1.0/buckets/{bucket}/documents
func (s *server) putBucket(w http.ResponseWriter, r *http.Request) error {
	bucket, err := pathName(r, "bucket")
	if err != nil {
		return err
	}
	return s.putDocuments(w, r, paramsOf(r), nil, bucket, func(
		body []byte, media document.Media, options revisions.Options,
	) (changes.Written, error) {
		return s.at(r).Service.Put(r.Context(), bucket, body, media, options)
	})
}

// PUT /api/v1.0/changesets
func (s *server) putChangeSet(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	buckets := q.bucketNames()
	return s.putDocuments(w, r, q, buckets, "", func(
		body []byte, media document.Media, options revisions.Options,
	) (changes.Written, error) {
		return s.at(r).Service.PutChangeSet(r.Context(), buckets, body, media, options)
	})
}

// putDocuments reads the documents of a request, or copies those of buckets of another site, puts them into the bucket
// into, or into several if that is empty, and answers with the outcome.
func (s *server) putDocuments(w http.ResponseWriter, r *http.Request, q *params, buckets []string, into string,
	put func(body []byte, media document.Media, options revisions.Options) (changes.Written, error),
) error {
	findings, from := q.flag("findings", false), q.copyFrom(into)
	options, err := s.countedChange(w, r, q, http.StatusOK)
	if err != nil {
		return err
	}
	if findings {
		if err := s.require(r, authz.ListValidations); err != nil {
			return err
		}
	}
	var texts preparedTexts
	if !findings && !options.DryRun && negotiate(r) != typeJSON {
		options.OnPlanned = func(documents []*revisions.Stored) { texts = prepareTexts(documents) }
	}
	var written changes.Written
	if from != nil {
		if err = s.withoutBody(w, r); err == nil {
			written, err = s.copyDocuments(r, *from, buckets, into, options, put)
		}
	} else {
		written, err = s.ingest(w, r, func(body []byte, media document.Media) (changes.Written, error) {
			return put(body, media, options)
		})
	}
	if err != nil {
		return err
	}
	s.keepRevisions(r, written.Revision)
	if findings {
		return s.writeWithFindings(w, r, written)
	}
	return s.writeWritten(w, r, written, texts)
}

// ingest waits for memory, reads a body of documents and puts them.
func (s *server) ingest(w http.ResponseWriter, r *http.Request,
	put func(body []byte, media document.Media) (changes.Written, error),
) (changes.Written, error) {
	body, media, end, err := s.uploads.readLarge(w, r, s.Limits.Body)
	if err != nil {
		return changes.Written{}, err
	}
	defer end()
	return put(body, media)
}

// writeWritten answers with the documents of the written buckets, some of which may be prepared as text, or with the
// preview of a dry run.
func (s *server) writeWritten(w http.ResponseWriter, r *http.Request, written changes.Written,
	made preparedTexts,
) error {
	if done, err := s.writePreview(w, r, written); done {
		return err
	}
	documents := s.visible(written.Documents)
	if len(documents) > 0 || !written.Changed {
		size := 0
		for _, doc := range documents {
			size += revisions.Size(doc.Document)
		}
		end := s.answers.begin(w, r, size)
		defer func() { end(nil) }()
		return s.answers.writeDocuments(w, r, all(documents), func(*revisions.Stored) int64 { return written.Revision }, made)
	}
	var texts [][]byte
	for _, bucket := range written.Buckets {
		texts = append(texts, statusOnly(bucket, written.Revision))
	}
	s.answers.writeStream(w, r, texts)
	return nil
}

// writeWithFindings answers with the findings of the newest revision, or for a dry run with a preview that has them.
func (s *server) writeWithFindings(w http.ResponseWriter, r *http.Request, written changes.Written) error {
	found, err := s.findingsAfter(r, written)
	found.More = found.More || err != nil
	if s.setWritten(w, r, written, found.Counts); err != nil { // the change is made all the same
		return err
	}
	if written.Preview == nil || negotiate(r, typeText) == typeText {
		s.writeFindings(w, r, found)
		return nil
	}
	rendered, err := groupRendered(r, written.Preview)
	if err != nil {
		return err
	}
	written.Preview = queries.LocatePreview(r.Context(), written)
	view := previewView(s.links(r), written, foundViews(found.Findings), new(countsView(found.Counts)),
		rendered)
	s.answers.write(w, r, http.StatusOK, view)
	return nil
}

// writePreview sets the headers of setWritten. For a dry run it answers with the preview, and done is true.
func (s *server) writePreview(w http.ResponseWriter, r *http.Request, written changes.Written) (done bool, err error) {
	s.setWritten(w, r, written, s.failuresAfter(r, written))
	if written.Preview == nil {
		return false, nil
	}
	rendered, err := groupRendered(r, written.Preview)
	if err != nil {
		return true, err
	}
	written.Preview = queries.LocatePreview(r.Context(), written)
	s.answers.write(w, r, http.StatusOK,
		previewView(s.links(r), written, checkedViews(written.Preview.Findings), nil, rendered))
	return true, nil
}

// setWritten sets the ETag of the newest revision and the headers that summarize a change, and records a new revision
// for the log.
func (s *server) setWritten(w http.ResponseWriter, r *http.Request, written changes.Written, counts queries.Counts) {
	setHeadTag(w, written.Revision, written.Stamp)
	if preview := written.Preview; preview != nil {
		setSummary(w, preview.ID, preview.Changed, preview.Verdict, written, counts)
		return
	}
	setSummary(w, written.Revision, written.Changed, written.RevisionStatus.Verdict, written, counts)
	infoOf(r).audited = written.Audited
	if infoOf(r).unchanged = !written.Changed && written.Rewritten == 0 && !written.Refollows; written.Changed {
		infoOf(r).revision = written.Revision
	}
}

// setSummary sets the headers that summarize a change or a dry run; revision is the newest afterwards. Without a new
// revision the status and the warnings are left out, because they would have to be read.
func setSummary(w http.ResponseWriter, revision int64, changed bool, verdict validations.Verdict,
	written changes.Written, counts queries.Counts,
) {
	did := written.Summary
	if written.Rewritten > 0 {
		w.Header().Set("Purser-Rewritten", strconv.Itoa(written.Rewritten))
	}
	w.Header().Set("Purser-Revision", strconv.FormatInt(revision, 10))
	w.Header().Set("Purser-Changes", fmt.Sprintf("added=%d, modified=%d, deleted=%d, unchanged=%d",
		did.Added, did.Modified, did.Deleted, did.Unchanged))
	if changed {
		atLeast := ""
		if counts.More {
			atLeast = "+"
		}
		waived := ""
		if n := len(verdict.Waived()); n > 0 {
			waived = fmt.Sprintf("; waived=%d", n)
		}
		w.Header().Set("Purser-Status",
			fmt.Sprintf("%v; findings=%d%s%s", verdict.Status, counts.Failures, atLeast, waived))
		for _, warning := range warningsOf(written.Weakened, verdict.Notice) {
			w.Header().Add("Purser-Warning", warning)
		}
	}
}

// warningsOf returns the headers about policies in printable ASCII: how they are weakened, and the notice if there is
// none. They are few and short, because proxies accept few bytes of headers.
func warningsOf(weakened []string, notice string) (warnings []string) {
	const most, longest = 4, 200
	if len(weakened) > most {
		weakened = append(slices.Clip(weakened[:most-1]), "Policies are weakened in more ways, which the revision lists")
	}
	if notice != "" {
		weakened = append(slices.Clip(weakened), notice)
	}
	for _, line := range weakened {
		warnings = append(warnings, strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '?'
			}
			return r
		}, words.First(line, longest)))
	}
	return warnings
}

// all returns an iterator that passes all documents in one batch.
func all(documents []*revisions.Stored) func(do func([]*revisions.Stored) error) error {
	return func(do func([]*revisions.Stored) error) error { return do(documents) }
}

// visible returns the documents to show: with Compat, all but ValidationPolicies.
func (s *server) visible(documents []*revisions.Stored) []*revisions.Stored {
	if !s.Compat {
		return documents
	}
	var shown []*revisions.Stored
	for _, doc := range documents {
		if !strings.HasPrefix(doc.Schema, validations.PolicyPrefix) {
			shown = append(shown, doc)
		}
	}
	return shown
}

// POST /api/v1.0/rollback/{revision}
func (s *server) rollback(w http.ResponseWriter, r *http.Request) error {
	target, err := s.revisionOrEmpty(r, "revision")
	if err != nil {
		return err
	}
	options, err := s.countedChange(w, r, paramsOf(r), http.StatusCreated)
	if err != nil {
		return err
	}
	written, err := s.at(r).Service.Rollback(r.Context(), target, options)
	if err != nil {
		return err
	}
	if done, err := s.writePreview(w, r, written); done {
		return err
	}
	s.keepRevisions(r, written.Revision)
	around := queries.Around{Previous: written.Revision - 1, Weakened: written.Weakened} // the newest one is not pruned
	described := queries.Described{RevisionStatus: written.RevisionStatus, Around: &around}
	s.answers.write(w, r, http.StatusCreated, s.links(r).revision(described))
	return nil
}

// DELETE /api/v1.0/revisions
func (s *server) purge(w http.ResponseWriter, r *http.Request) error {
	options, err := s.options(r, paramsOf(r))
	if err != nil {
		return err
	}
	options.CleartextOnly, options.Audit = !s.mayEncrypt(r), s.auditEvent(r, http.StatusNoContent)
	if err := s.at(r).Service.Purge(r.Context(), options); err != nil {
		return err
	}
	infoOf(r).audited = options.Audit != nil
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// POST /api/v1.0/revisions/prune
func (s *server) prune(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	keep := q.count("keep", -1)
	if keep < 0 {
		q.fail("keep", "It must say how many of the newest revisions are to be kept.")
	}
	options, err := s.change(r, q, http.StatusOK)
	if err != nil {
		return err
	}
	pruned, err := s.at(r).Service.Prune(r.Context(), keep, options)
	if err != nil {
		return err
	}
	infoOf(r).audited = options.Audit != nil && !options.DryRun
	setHeadTag(w, pruned.Head.Revision, pruned.Head.Stamp)
	s.answers.write(w, r, http.StatusOK, prunedView(pruned, options.DryRun))
	return nil
}
