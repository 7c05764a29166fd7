package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"
)

// maxMessage is the maximum size of a message, in bytes.
const maxMessage = 16 << 20

// codec reads and writes messages as jsonrpc2.VSCodeObjectCodec does, but refuses large ones before it reads them.
type codec struct {
	jsonrpc2.VSCodeObjectCodec

	failed func(error) // called with the error that ends the session, which is io.EOF if it is over
}

// ReadObject implements jsonrpc2.ObjectCodec.
func (c codec) ReadObject(stream *bufio.Reader, into any) error {
	err := read(stream, into)
	if err != nil {
		c.failed(err)
	}
	return err
}

func read(stream *bufio.Reader, into any) error {
	length, err := readHeader(stream)
	if err != nil {
		return err
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(stream, text); err != nil {
		return fmt.Errorf("read a message: %w", unexpected(err))
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("a message is not JSON-RPC: %w", err)
	}
	return nil
}

var errNoLength = errors.New("a message has no header Content-Length")

// readHeader reads the header of a message and returns the length of its content. The error is io.EOF if there is no
// message.
func readHeader(stream *bufio.Reader) (length int, err error) {
	for first := true; ; first = false {
		line, err := stream.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && first && len(line) == 0:
			return 0, io.EOF
		case err != nil:
			return 0, fmt.Errorf("read the header of a message: %w", unexpected(err))
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 && length == 0 {
			return 0, errNoLength
		}
		if len(line) == 0 {
			return length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if !bytes.EqualFold(name, []byte("Content-Length")) {
			continue
		}
		length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
		if err != nil || length <= 0 || length > maxMessage {
			return 0, fmt.Errorf("a message has a Content-Length of %.20q; at most %d bytes are read", value, maxMessage)
		}
	}
}

// unexpected returns an error with which a message ends.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
