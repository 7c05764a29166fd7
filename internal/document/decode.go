package document

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
	"purser/internal/fault"
)

// Entry is a decoded document, before its sanity checks.
type Entry struct {
	Value   any // a Mapping if the entry is a document
	Notes   []Note
	Twice   error // a fault about the first duplicate key at the top level; nil if there is none
	Segment Digest
	Index   int // position among the body's documents; counts from 1
	Line    int // first line in the body; counts from 1

	source Segment
}

// Note is a remark about a document that is not an error.
type Note struct {
	Message string `json:"message"`
	Level   string `json:"level"`
	Path    string `json:"path,omitempty"` // of the key that it is about; may be empty
	// Key is a duplicate key, shortened, and First and Second are its positions in the body. They are zero in other notes,
	// and in notes from the store.
	Key    string   `json:"-"`
	First  Position `json:"-"`
	Second Position `json:"-"`
}

// IsDocument reports whether the entry is a non-empty mapping, as every document must be.
func (e Entry) IsDocument() bool {
	m, ok := e.Value.(Mapping)
	return ok && len(m) > 0
}

// Decode parses a segment. Faults: Invalid if the text cannot be parsed or its values have no JSON form, TooLarge if a
// limit or the budget is exceeded. The message names the document, line and column if they are known. Decode holds its
// memory in the budget until it returns.
func Decode(ctx context.Context, s Segment, limits Limits) (Entry, error) {
	if s.decoded != nil {
		entry := s.decoded.entry
		entry.Segment = s.Digest
		return entry, s.decoded.err
	}
	if err := limits.checkText(s); err != nil {
		return Entry{}, err
	}
	meter := budget.NewMeter(ctx)
	switch {
	case s.media == JSON:
		return decodeBy((*decoder).json, meter, s, limits)
	case !limits.Strict:
		entry, err := decodeBy((*decoder).plain, meter, s, limits)
		if err != errDeclined { //nolint:errorlint // it is not wrapped
			return entry, err
		}
	}
	return decodeBy((*decoder).yaml, meter, s, limits)
}

func decodeBy(read func(*decoder) (any, error), meter *budget.Meter, s Segment, limits Limits) (Entry, error) {
	d := &decoder{segment: s, limits: limits, meter: meter}
	defer d.release()
	result := d.decode(func() (any, error) { return read(d) })
	return result.entry, result.err
}

// decoder converts the text of one segment to a value and counts the values that it creates.
type decoder struct {
	segment Segment
	limits  Limits
	meter   *budget.Meter
	notes   []Note
	twice   error
	values  int
	size    int
	pending int                 // bytes of values that are not yet counted in the budget
	held    int                 // bytes of values that are counted in the budget
	open    map[*yaml.Node]bool // anchored nodes whose aliases are being expanded
}

// Costs in the budget.
const (
	valueSteps  = 400      // to create a value
	mergeSteps  = 300      // to copy a member that << merges
	numberSteps = 130      // for each byte of a number
	valueBytes  = 128      // of a value, besides its text
	maxPending  = 64 << 10 // bytes of values after which they are counted
)

// decode decodes the segment with read. If the budget is exceeded, the error gives the document's place.
func (d *decoder) decode(read func() (any, error)) decoded {
	d.open = make(map[*yaml.Node]bool)
	value, err := read()
	if err == nil {
		err = d.flush()
	}
	s := d.segment
	if err != nil {
		return decoded{Entry{}, budget.About(err, "%s", s.Place())}
	}
	return decoded{entry: Entry{
		Value: value, Notes: d.notes, Twice: d.twice, Segment: s.Digest, Index: s.Index, Line: s.Line, source: s,
	}}
}

func (d *decoder) release() { d.meter.Release(d.held) }

// count counts a value against the limits and the budget. bytes is the size of its text.
func (d *decoder) count(bytes, depth int) error {
	if err := d.exceeds(bytes, depth); err != nil {
		return err
	}
	return d.spend(valueSteps, valueBytes)
}

func (d *decoder) tooDeep() error {
	return TooLarge("%s is nested deeper than %d levels; make it flatter, or raise the server's --max-depth",
		d.segment.Place(), d.limits.Depth)
}

// exceeds counts a value and returns a fault if a limit is exceeded.
func (d *decoder) exceeds(bytes, depth int) error {
	d.values++
	d.size += bytes
	switch {
	case depth > d.limits.Depth:
		return d.tooDeep()
	case d.values > d.limits.Values:
		return d.limits.tooManyValues(d.segment)
	case d.size > d.limits.Size:
		return TooLarge("%s has more than %d bytes once its aliases are expanded; split it up, or raise the server's "+
			"--max-document-size", d.segment.Place(), d.limits.Size)
	}
	return nil
}

// spend charges steps to the budget, and adds bytes to it once maxPending of them are pending.
func (d *decoder) spend(steps, bytes int) error {
	d.pending += bytes
	if d.pending < maxPending {
		return d.meter.Spend(steps)
	}
	d.meter.Charge(steps)
	return d.flush()
}

// flush adds all pending bytes to the budget.
func (d *decoder) flush() error {
	bytes := d.pending
	d.held, d.pending = d.held+bytes, 0
	return d.meter.Hold(bytes)
}

// spendNumber charges the steps to parse a scalar as a number, if it looks like one.
func (d *decoder) spendNumber(text string) error {
	if !looksNumeric(text) {
		return nil
	}
	return d.spend(numberSteps*min(len(text), maxNumber), 0)
}

// noteDuplicate adds a note about a duplicate key. It calls positions, which are those in the text, only if needed,
// because that is slow for the plain reader.
func (d *decoder) noteDuplicate(key string, depth int, positions func() (first, second Position)) {
	if depth == 1 && d.twice == nil {
		first, second := positions()
		d.twice = d.segment.twice(first, second)
	}
	if len(d.notes) >= maxNotes {
		d.notes = append(d.notes[:maxNotes-1], Note{Level: "Info", Message: "More keys appear twice in one mapping."})
		return
	}
	first, second := positions()
	first, second = d.segment.position(first), d.segment.position(second)
	key = brief(key)
	d.notes = append(d.notes, Note{Level: "Info", Key: key, First: first, Second: second, Message: fmt.Sprintf(
		"The key '%s' appears twice in one mapping, at lines %d and %d; the last one wins.", key, first.Line, second.Line)})
}

// twice returns the fault about a key that appears twice at the top level, at two positions of the text. It does not
// name the key, because the document may be an encrypted one.
func (s Segment) twice(first, second Position) *fault.Fault {
	line, earlier := s.position(second).Line, s.position(first).Line
	wrong := rulef("a key appears twice at the top level, at lines %d and %d", earlier, line)
	if earlier == line {
		wrong = rulef("a key appears twice at the top level, on line %d", line)
	}
	if s.media == YAML {
		wrong += "; is a line with --- missing between two documents?"
	}
	return s.malformedAt(second, wrong)
}

// maxNotes bounds the notes about one document.
const maxNotes = 10

// keyOf returns the text of a mapping key, and whether the key is a string or an integer.
func keyOf(value any) (string, bool) {
	switch key := value.(type) {
	case string:
		return key, true
	case Number:
		return string(key), !strings.ContainsAny(string(key), ".e")
	}
	return "", false
}

// ParseOne parses a body that must be a single document, such as a posted result. Its top level must have no duplicate
// keys. It returns nil for an empty body.
func ParseOne(ctx context.Context, body []byte, media Media, limits Limits) (any, error) {
	if media == JSON {
		if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '[' {
			return nil, malformed(JSON, Mistake{Rule: "one mapping is expected here, not a list"})
		}
	}
	segments, err := Split(ctx, body, media, limits)
	if err != nil || len(segments) == 0 {
		return nil, err
	}
	if len(segments) > 1 {
		return nil, malformed(media, Mistake{
			Rule: string(rulef("one document is expected here, but line %d begins another", segments[1].Line)),
		})
	}
	entry, err := Decode(ctx, segments[0], limits)
	if err == nil && entry.Twice != nil {
		return nil, entry.Twice
	}
	return entry.Value, err
}
