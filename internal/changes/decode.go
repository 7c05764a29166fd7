package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// decode decodes items of a payload on all processors. It returns the fault chosen by firstFault, if any.
func (s *Service) decode(ctx context.Context, payload Payload, positions []int) ([]Item, error) {
	items := make([]Item, len(positions))
	for i, position := range positions {
		items[i] = payload.Items[position]
	}
	most := maxMessages
	if s.Compat {
		most = 1 // the first document's alone
	}
	decoded, faults, err := s.decodeItems(ctx, items, payload.CleartextOnly, most)
	if err != nil {
		return nil, err
	}
	return decoded, firstFault(decoded, faults, s.Compat)
}

// maxMessages is the maximum number of messages about documents that fail their sanity checks, except those of the
// first one.
const maxMessages = 100

// decodeItems decodes items on all processors and returns the faults of each. The first ones of sanity checks have
// messages: those of one item, or up to most of several.
func (s *Service) decodeItems(ctx context.Context, items []Item, cleartextOnly bool, most int) (
	[]Item, []decodeFaults, error,
) {
	decoded, faults := make([]Item, len(items)), make([]decodeFaults, len(items))
	err := budget.ForEach(ctx, len(items), func(meter *budget.Meter, i int) error {
		decoded[i], faults[i] = s.decodeItem(ctx, meter, items[i], cleartextOnly)
		if doc := decoded[i].Document; doc != nil {
			if err := meter.Hold(revisions.Size(doc)); err != nil {
				return budget.About(err, "keep document %s", doc.Identity)
			}
		}
		for _, err := range []error{faults[i].parse, faults[i].sanity} {
			if err != nil && !isOfBody(err) {
				return err
			}
		}
		return nil
	})
	if err == nil {
		faults, err = s.worded(ctx, items, faults, most)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("decode documents: %w", err)
	}
	return decoded, faults, nil
}

// worded returns faults with the messages of sanity checks that decodeItems returns. It decodes these items again, so
// that the values of all others need not be kept.
func (s *Service) worded(ctx context.Context, items []Item, faults []decodeFaults, most int) ([]decodeFaults, error) {
	worded, meter, listed := slices.Clone(faults), budget.NewMeter(ctx), 0
	for i, f := range faults {
		if f.violations == 0 || listed > 0 && listed+f.violations > most {
			continue
		}
		entry, err := document.Decode(ctx, *items[i].Segment, s.Limits)
		if err == nil {
			err = validations.Sanity(meter, entry, s.Compat)
		}
		if err != nil && !isOfBody(err) {
			return nil, err
		}
		worded[i].sanity = budget.About(err, "%s", items[i].Segment.Place())
		if err := meter.Hold(sizeOfMessages(worded[i].messages())); err != nil {
			return nil, budget.About(err, "keep the errors of documents up to document %d", items[i].Segment.Index)
		}
		listed += f.violations
	}
	return worded, nil
}

// isOfBody reports whether an error is caused by the body and not by the end of the request.
func isOfBody(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.Invalid || kind == fault.TooLarge
}

// decodeItem decodes an item into a document. At most one of the faults is set.
func (s *Service) decodeItem(ctx context.Context, meter *budget.Meter, item Item, cleartextOnly bool) (
	Item, decodeFaults,
) {
	entry, err := document.Decode(ctx, *item.Segment, s.Limits)
	switch {
	case err != nil:
		return item, decodeFaults{parse: err}
	case !entry.IsDocument():
		return item, decodeFaults{invalid: noMapping(entry)}
	case entry.Twice != nil:
		return item, decodeFaults{parse: entry.Twice}
	}
	if n, err := validations.Violations(meter, entry, s.Compat); err != nil || n > 0 {
		return item, decodeFaults{violations: n, sanity: budget.About(err, "%s", item.Segment.Place())}
	}
	root, _ := entry.Value.(document.Mapping)
	entry.Notes = slices.Concat(entry.Notes, validations.Strays(root))
	if item.Document, err = document.New(entry); err != nil {
		return item, decodeFaults{parse: err}
	}
	if item.Bucket == "" {
		if item.Bucket, err = bucketOf(entry, item.Document); err != nil {
			return item, decodeFaults{bucket: err}
		}
	}
	if !item.Document.Traits().Encrypted {
		item.Document = distinct(item.Document)
	} else {
		if cleartextOnly {
			return item, decodeFaults{secret: mayNotEncrypt()}
		}
		if item.Document, err = s.conceal(entry, item.Document); err != nil {
			return item, decodeFaults{secret: err}
		}
	}
	return item, decodeFaults{}
}

// bucketOf returns the bucket that a document of a change set names.
func bucketOf(e document.Entry, doc *document.Document) (string, error) {
	bucket, isText := document.Locate(e.Value, []string{"status", "bucket"}).(string)
	if isText {
		what := fmt.Sprintf("The status.bucket of document %s (document %d, from line %d)", doc.Identity, e.Index, e.Line)
		return strings.Clone(bucket), cmp.Or(validations.CheckName(bucket, what), validations.CheckNewName(bucket, what))
	}
	return "", fault.New(fault.Invalid, "HTTPBadRequest",
		"Document %s (document %d, from line %d) names no bucket. In a change set each document must say which bucket it is "+
			"for, as status: {bucket: NAME}. Nothing was stored.", doc.Identity, e.Index, e.Line)
}

// decodeFaults are the possible faults of a document; at most one is set.
type decodeFaults struct {
	parse   error
	invalid string // what the entry is instead of a mapping
	// violations is the number of violations of sanity checks, and sanity the fault with their messages, if they are
	// worded, or why the checks were not completed.
	violations int
	sanity     error
	bucket     error
	secret     error
}

// messages returns the messages of violations, if they are worded.
func (f decodeFaults) messages() []fault.Message {
	if worded, ok := errors.AsType[*fault.Fault](f.sanity); ok {
		return worded.Messages
	}
	return nil
}

// firstFault returns the fault that Deckhand finds first: a parse error, then an entry that is not a mapping, then
// the first document that fails its sanity checks (without compat, all such documents); nil if there is none.
func firstFault(items []Item, faults []decodeFaults, compat bool) error {
	var later [3]error
	var invalid, hints []string
	for i, f := range faults {
		if f.parse != nil {
			return f.parse
		}
		if f.invalid != "" {
			invalid = append(invalid, strconv.Itoa(items[i].Segment.Index))
			hints = append(hints, fmt.Sprintf("Document %d (from line %d) is %s.", items[i].Segment.Index, items[i].Segment.Line,
				f.invalid))
		}
		for kind, err := range [...]error{f.sanity, f.bucket, f.secret} {
			if later[kind] == nil {
				later[kind] = err
			}
		}
	}
	if len(invalid) > 0 {
		return invalidEntries(invalid, hints, items[0].Segment.Media())
	}
	if later[0] != nil && !compat {
		return malformed(faults)
	}
	for _, err := range later {
		if err != nil {
			return err
		}
	}
	return nil
}

// malformed returns one fault for all documents that fail their sanity checks, with the messages of the first one and
// of as many others as fit into an answer. An incomplete check takes precedence.
func malformed(faults []decodeFaults) error {
	var all fault.Fault
	left := 0
	for _, f := range faults {
		one, fails := errors.AsType[*fault.Fault](f.sanity)
		switch {
		case !fails && f.violations > 0: // it is not worded
			left++
		case !fails:
		case one.Kind != fault.Invalid:
			return one
		case all.Messages == nil:
			all = *one
		case left > 0, len(all.Messages)+len(one.Messages) > maxMessages:
			left++
		default:
			all.Messages = slices.Concat(all.Messages, one.Messages)
		}
	}
	if left > 0 {
		all.Message += fmt.Sprintf("; %d more fail than are listed", left)
	}
	return &all
}

func invalidEntries(indexes, hints []string, media document.Media) error {
	const maxShown, maxHints = 100, 10
	list := strings.Join(indexes[:min(len(indexes), maxShown)], ",")
	if len(indexes) > maxShown {
		list += ",…"
	}
	f := fault.New(fault.Invalid, "HTTPBadRequest",
		"Expected a list of valid objects. Invalid entries found at following indexes: %s.", list)
	f.Messages = []fault.Message{{Message: f.Message, Error: true}}
	for _, hint := range hints[:min(len(hints), maxHints)] {
		hint += " " + removeEntry(media) + " Nothing was stored."
		f.Messages = append(f.Messages, fault.Message{Message: hint, Error: true})
	}
	return f
}

// removeEntry returns the advice about an entry that is not a document.
func removeEntry(media document.Media) string {
	advice := "Each document is a mapping with schema, metadata and data; remove this one"
	if media == document.YAML {
		advice += ", or the --- before it"
	}
	return advice + "."
}

// emptyEntry is what noMapping says of an entry without a value.
const emptyEntry = "empty"

// noMapping describes an entry that is not a document.
func noMapping(entry document.Entry) string {
	switch value := entry.Value.(type) {
	case nil:
		return emptyEntry
	case document.Mapping:
		return "an empty mapping"
	case []any:
		return "a list"
	case string:
		if strings.Contains(value, ": ") {
			return "a string that may have lost its line breaks: curl -d removes them (use -T or --data-binary)"
		}
		return "a string"
	default:
		return "a number or a word such as true"
	}
}
