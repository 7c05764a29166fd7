package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
)

// Listed returns the segments of a YAML body. If the body is a single list of documents, as JSON often is, it returns a
// segment for each item. Unless it is JSON, such a list is subject to the limits of a single document. Errors are those
// of Split.
func Listed(ctx context.Context, body []byte, segments []Segment, limits Limits) ([]Segment, error) {
	return listed(ctx, body, segments, limits, Segment{Line: 1, Index: 1})
}

// listed is Listed for the segments that split has returned.
func listed(ctx context.Context, body []byte, segments []Segment, limits Limits, from Segment) ([]Segment, error) {
	if len(segments) != 1 || segments[0].media != YAML || segments[0].decoded != nil || !beginsList(segments[0].Text) {
		return segments, nil
	}
	meter := budget.NewMeter(ctx)
	meter.Charge(len(body) * splitSteps)
	if err := meter.Check(); err != nil {
		return nil, budget.About(err, "the body")
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(body, byteOrderMark), " \t\r\n")
	if len(text) > 0 && text[0] == '[' && json.Valid(text) {
		return split(ctx, body, JSON, limits, from)
	}
	return parseList(meter, segments[0], limits)
}

// beginsList reports whether a text begins with a list.
func beginsList(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimPrefix(bytes.TrimRight(line, "\r\n"), []byte("---"))
		line = bytes.TrimLeft(line, " \t")
		if len(line) > 0 && line[0] != '#' {
			return line[0] == '[' || line[0] == '-' && (len(line) == 1 || line[1] == ' ')
		}
	}
	return false
}

// parseList returns the items of a list as segments, or the segment itself if it cannot be parsed.
func parseList(meter *budget.Meter, whole Segment, limits Limits) ([]Segment, error) {
	if err := limits.checkText(whole); err != nil {
		return nil, TooLarge("a list of documents counts as one document; separate them with --- instead: %w", err)
	}
	p := &parser{meter: meter}
	defer p.release()
	documents, err := p.parse(whole.Text, 1)
	_, invalid := errors.AsType[*syntaxError](err)
	switch {
	case invalid: // Decode reports the error
		return []Segment{whole}, nil
	case err != nil:
		return nil, budget.About(err, "the body")
	case len(documents) == 0 || documents[0].Kind != yaml.SequenceNode:
		return []Segment{whole}, nil
	}
	items := documents[0].Content
	if len(items) > limits.Documents {
		return nil, tooMany(limits)
	}
	list := Segment{Text: whole.Text, start: whole.Line, Index: whole.Index, isItem: true}
	return decodeParts(meter, list, items, limits), nil
}

// decodeParts returns a segment for each of several documents of one text.
func decodeParts(meter *budget.Meter, whole Segment, parts []*yaml.Node, limits Limits) []Segment {
	segments := make([]Segment, len(parts))
	for i, part := range parts {
		s := whole
		s.Line, s.Index, s.part = whole.line(part.Line), whole.Index+i, i+1
		d := &decoder{segment: s, limits: limits, meter: meter}
		s.decoded = new(d.decode(func() (any, error) { return d.value(part, 1) }))
		segments[i] = s
	}
	return segments
}

func tooMany(limits Limits) error {
	return TooLarge("the body has more than %d documents; send it as several buckets, or raise the server's "+
		"--max-documents", limits.Documents)
}
