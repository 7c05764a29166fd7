package sitefile

import (
	"bytes"
	"errors"
	"io"
)

// Lines adds a first column to rows in the text format of COPY, and counts them.
type Lines struct {
	rows  io.Reader
	first []byte // column, with a tab
	begun bool   // a row that has not ended
	read  []byte
	ready []byte // to be returned by Read
	err   error

	Count, Bytes int64 // of what was read
}

// NewLines returns rows with another first column, which must be one that COPY writes as it is.
func NewLines(rows io.Reader, first string) *Lines {
	const size = 64 << 10
	return &Lines{rows: rows, first: []byte(first + "\t"), read: make([]byte, size)}
}

var (
	errReturn = errors.New("a table has a carriage return where a row may end")
	errRow    = errors.New("the last row of a table does not end")
)

// Read implements io.Reader.
func (l *Lines) Read(p []byte) (int, error) {
	for len(l.ready) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		n, err := l.rows.Read(l.read)
		l.err = err
		l.add(l.read[:n])
		if errors.Is(l.err, io.EOF) && l.begun {
			l.err = errRow
		}
	}
	n := copy(p, l.ready)
	l.ready = l.ready[n:]
	return n, nil
}

// Err returns what prevented the rows from being read to their end.
func (l *Lines) Err() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}

// add makes some of what was read ready. COPY writes characters of rows that end a line with a backslash, so that none
// is inside a row. Postgres would take a carriage return for the end of a row, too.
func (l *Lines) add(some []byte) {
	if bytes.IndexByte(some, '\r') >= 0 {
		l.err = errReturn
		return
	}
	l.Bytes += int64(len(some))
	l.ready = nil
	for line := range bytes.Lines(some) {
		if !l.begun {
			l.ready = append(l.ready, l.first...)
		}
		l.ready = append(l.ready, line...)
		if l.begun = !bytes.HasSuffix(line, []byte{'\n'}); !l.begun {
			l.Count++
		}
	}
}
