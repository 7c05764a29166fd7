package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// wire is a client's connection for rows with short requests, whose cost http.Client would distort. It sends the same
// bytes again and again, and reads the answers in the same goroutine.
type wire struct {
	net.Conn

	answers *bufio.Reader
}

// wires opens a connection for each client. closeAll closes them.
func (s *server) wires(ctx context.Context, clients int) (list []wire, closeAll func(), err error) {
	closeAll = func() {
		for _, w := range list {
			_ = w.Close()
		}
	}
	for range clients {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("connect a client: %w", err)
		}
		list = append(list, wire{conn, bufio.NewReader(conn)})
	}
	return list, closeAll, nil
}

// message returns a request in wire format.
func message(method, path string, body []byte) []byte {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n", method, path)
	if body != nil {
		head += fmt.Sprintf("Content-Type: application/x-yaml\r\nContent-Length: %d\r\n", len(body))
	}
	return append([]byte(head+"\r\n"), body...)
}

// send sends a request and reads the whole answer.
func (w wire) send(message []byte) error {
	if _, err := w.Write(message); err != nil {
		return fmt.Errorf("send a request: %w", err)
	}
	response, err := http.ReadResponse(w.answers, nil)
	if err != nil {
		return fmt.Errorf("read an answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 2000))
		return fmt.Errorf("%s: %s: %s", message[:20], response.Status, text)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return fmt.Errorf("read an answer: %w", err)
	}
	return nil
}
