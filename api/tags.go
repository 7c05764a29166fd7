package api

import (
	"net/http"

	"purser/internal/revisions"
)

// GET /api/v1.0/revisions/{revision}/tags
func (s *server) listTags(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	tags, err := s.questions(r).Tags(r.Context(), id)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, tagViews(tags))
	return nil
}

// DELETE /api/v1.0/revisions/{revision}/tags
func (s *server) deleteTags(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	options, err := s.about(r, id, http.StatusNoContent)
	if err != nil {
		return err
	}
	had, err := s.at(r).Service.UntagAll(r.Context(), id, options)
	if err != nil {
		return err
	}
	infoOf(r).audited = had && options.Audit != nil
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// GET /api/v1.0/revisions/{revision}/tags/{tag}
func (s *server) showTag(w http.ResponseWriter, r *http.Request) error {
	id, tag, err := s.tag(r)
	if err != nil {
		return err
	}
	found, err := s.questions(r).ShowTag(r.Context(), id, tag)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, tagViews([]revisions.Tag{found}))
	return nil
}

// maxTag bounds the data of a tag, in bytes. It is part of every view of its revision.
const maxTag = 64 << 10

// POST /api/v1.0/revisions/{revision}/tags/{tag}
func (s *server) postTag(w http.ResponseWriter, r *http.Request) error {
	id, tag, err := s.tag(r)
	if err != nil {
		return err
	}
	data, err := s.readOne(w, r, maxTag)
	if err != nil {
		return err
	}
	options, err := s.about(r, id, http.StatusCreated)
	if err != nil {
		return err
	}
	tagged, err := s.at(r).Service.Tag(r.Context(), id, options, tag, data)
	if err != nil {
		return err
	}
	infoOf(r).audited = options.Audit != nil
	s.answers.write(w, r, http.StatusCreated, tagViews([]revisions.Tag{tagged}))
	return nil
}

// DELETE /api/v1.0/revisions/{revision}/tags/{tag}
func (s *server) deleteTag(w http.ResponseWriter, r *http.Request) error {
	id, tag, err := s.tag(r)
	if err != nil {
		return err
	}
	options, err := s.about(r, id, http.StatusNoContent)
	if err != nil {
		return err
	}
	if err := s.at(r).Service.Untag(r.Context(), id, options, tag); err != nil {
		return err
	}
	infoOf(r).audited = options.Audit != nil
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *server) tag(r *http.Request) (revision int64, tag string, err error) {
	if tag, err = pathName(r, "tag"); err != nil {
		return 0, "", err
	}
	revision, err = s.revision(r)
	return revision, tag, err
}
