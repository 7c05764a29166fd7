package changes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// Faults come in the reference's order: parse errors, entries that are not mappings, then the first of each other kind.
func TestFirstFault(t *testing.T) {
	t.Parallel()
	parse, sanity, bucket, secret := errors.New("parse"), errors.New("sanity"), errors.New("bucket"), errors.New("secret")
	item := func(index int) Item { return Item{Segment: &document.Segment{Index: index}} }
	for _, c := range []struct {
		name   string
		faults []decodeFaults
		want   string
	}{
		{"none", []decodeFaults{{}, {}}, "<nil>"},
		{"parse before all", []decodeFaults{
			{secret: secret},
			{bucket: bucket},
			{sanity: sanity},
			{invalid: "a list"},
			{parse: parse},
		}, "parse"},
		{
			"no mapping before sanity",
			[]decodeFaults{{sanity: sanity}, {invalid: "a list"}, {}, {invalid: "a list"}},
			"Expected a list of valid objects. Invalid entries found at following indexes: 2,4.",
		},
		{"sanity before bucket", []decodeFaults{{secret: secret}, {bucket: bucket}, {sanity: sanity}}, "sanity"},
		{"bucket before secret", []decodeFaults{{secret: secret}, {bucket: bucket}}, "bucket"},
		{"first of a kind", []decodeFaults{{}, {secret: secret}, {secret: errors.New("later")}}, "secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			items := make([]Item, len(c.faults))
			for i := range items {
				items[i] = item(i + 1)
			}
			if diff := cmp.Diff(c.want, fmt.Sprint(firstFault(items, c.faults, true))); diff != "" {
				t.Errorf("fault (-want +got)\n%s", diff)
			}
		})
	}
}

// Sanity faults are reported for all documents, up to a limit; with compat only for the first.
func TestFirstFault_sanity(t *testing.T) {
	t.Parallel()
	wrong := func(text string, messages int) decodeFaults {
		f := fault.New(fault.Invalid, "InvalidDocumentFormat", "They fail")
		for range messages {
			f.Messages = append(f.Messages, fault.Message{Message: text})
		}
		return decodeFaults{sanity: f}
	}
	faults := []decodeFaults{{}, wrong("a", 60), {bucket: errors.New("bucket")}, wrong("b", 40), wrong("c", 1), wrong("d",
		2)}
	for compat, want := range map[bool]string{
		true:  "They fail: " + strings.Repeat("a", 60),
		false: "They fail; 2 more fail than are listed: " + strings.Repeat("a", 60) + strings.Repeat("b", 40),
	} {
		f, ok := errors.AsType[*fault.Fault](firstFault(make([]Item, len(faults)), faults, compat))
		if !ok {
			t.Fatal("no fault")
		}
		var got strings.Builder
		got.WriteString(f.Message + ": ")
		for _, message := range f.Messages {
			got.WriteString(message.Message)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("compat %v (-want +got)\n%s", compat, diff)
		}
	}
	faults[4] = decodeFaults{violations: 1}
	if got := firstFault(make([]Item, len(faults)), faults, false); !strings.Contains(got.Error(), "; 2 more fail than are listed") {
		t.Errorf("one that is not worded does not count: %v", got)
	}
	spent := fault.New(fault.TooLarge, "BudgetExceeded", "Too much work")
	if got := firstFault(make([]Item, 2), []decodeFaults{wrong("a", 1), {sanity: spent}}, false); !errors.Is(got, spent) {
		t.Errorf("a check that was not completed is hidden by %v", got)
	}
	if size := sizeOfMessages(wrong("abc", 2).messages()); size < 2*len("abc")+1 || (decodeFaults{}).messages() != nil {
		t.Errorf("%d bytes of messages", size)
	}
	if one, _ := errors.AsType[*fault.Fault](faults[1].sanity); len(one.Messages) != 60 {
		t.Errorf("the fault of one document has %d messages now", len(one.Messages))
	}
}

// Of many documents that fail their sanity checks, a PUT words as many as an answer lists, with compat the first, and a
// draft words all.
func TestService_decode_worded(t *testing.T) {
	t.Parallel()
	const documents = 150
	body := strings.Repeat("---\nschema: a/B/v1\nx: 1\ny: 2\nmetadata: {nme: 1}\n", documents)
	for compat, want := range map[bool]int{false: maxMessages, true: 2} {
		s, _ := service()
		s.Compat = compat
		payload, err := s.parse(t.Context(), []byte(body), document.YAML, "b", []string{"b"})
		if err != nil {
			t.Fatal(err)
		}
		positions := make([]int, documents)
		for i := range positions {
			positions[i] = i
		}
		_, err = s.decode(t.Context(), payload, positions)
		f, _ := errors.AsType[*fault.Fault](err)
		if f == nil || len(f.Messages) != want || !compat && !strings.HasSuffix(f.Message, "; 100 more fail than are listed") {
			t.Errorf("compat %v: %v", compat, err)
		}
		_, errs, err := s.Decode(t.Context(), payload.Items)
		if err != nil {
			t.Fatal(err)
		}
		for i, err := range errs {
			if f, _ := errors.AsType[*fault.Fault](err); f == nil || len(f.Messages) != 2 {
				t.Errorf("compat %v, document %d: %v", compat, i, err)
			}
		}
	}
}

func TestInvalidEntries_many(t *testing.T) {
	t.Parallel()
	err := invalidEntries(strings.Split(strings.Repeat("7 ", 200), " "), nil, document.YAML)
	if n := strings.Count(err.Error(), "7"); n != 100 || !strings.HasSuffix(err.Error(), ",….") {
		t.Errorf("%d of 200 indexes: %v", n, err)
	}
}

func TestService_Put_refused(t *testing.T) {
	t.Parallel()
	w1 := widget("w1", "{x: 1}")
	for _, c := range []struct {
		name string
		body string
		kind fault.Kind
		want string
	}{
		{"unreadable", w1 + "---\n{", fault.Invalid, "must be properly formatted YAML"},
		{"not a mapping", "--- 1\n--- 2\n" + w1, fault.Invalid, "indexes: 1,2."},
		{"without a schema", "---\ndata: {}\n", fault.Invalid, "schema"},
		{"comments alone", "# " + strings.ReplaceAll(w1, "\n", " "), fault.Invalid, "holds no document, only comments"},
		{"a NUL in metadata", widget("w1", "{}", `labels: {k: "\0"}`), fault.Invalid, "NUL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, m := service()
			_, err := s.Put(t.Context(), "a", []byte(c.body), document.YAML, revisions.Options{})
			wantFault(t, err, c.kind, c.want)
			if len(m.needs) > 1 || len(m.commits) > 0 {
				t.Errorf("%d snapshots, %d commits", len(m.needs), len(m.commits))
			}
		})
	}
}

func TestService_PutChangeSet_refused(t *testing.T) {
	t.Parallel()
	w1 := widget("w1", "{x: 1}")
	for _, c := range []struct {
		name string
		body string
		kind fault.Kind
		want string
	}{
		{"about nothing", "", fault.Invalid, "The change set names no bucket"},
		{
			"no bucket", inBucket("a", widget("w0", "{}")) + w1, fault.Invalid,
			"Document [acme/Widget/v1, site] w1 (document 2, from line 10) names no bucket",
		},
		{"a bucket that is no text", inBucket("[a]", w1), fault.Invalid, "names no bucket"},
		{"a bucket without a name", inBucket("''", w1), fault.Invalid, "status.bucket of document"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := service()
			_, err := s.PutChangeSet(t.Context(), nil, []byte(c.body), document.YAML, revisions.Options{})
			wantFault(t, err, c.kind, c.want)
		})
	}
}

// A disconnected client is not a fault of the documents.
func TestService_decode_cancelled(t *testing.T) {
	t.Parallel()
	s, _ := service()
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	p, err := s.parse(ctx, []byte(widget("w1", "{}")), document.YAML, "a", []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	cancel(gone)
	if _, err := s.decode(ctx, p, []int{0}); !errors.Is(err, gone) {
		t.Errorf("error %v, want the cause of the context's end", err)
	}
}

// A document that makes the decoder panic ends only its own request.
func TestForEach_panics(t *testing.T) {
	t.Parallel()
	const many = 40
	err := budget.ForEach(t.Context(), many, func(_ *budget.Meter, i int) error {
		if i == many/2 {
			panic("one of many")
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "panic: one of many") ||
		!strings.Contains(err.Error(), "decode_test.go") {
		t.Errorf("error %v, want the panic with its stack", err)
	}
}
