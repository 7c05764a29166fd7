package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
)

const (
	api          = "/api/v1.0"
	allRevisions = api + "/revisions"
	latest       = allRevisions + "/latest"
	allDocuments = latest + "/documents"
)

// documentsOf returns the path of a bucket.
func documentsOf(bucket string) string { return api + "/buckets/" + bucket + "/documents" }

// client sends requests to a server. A request that fails ends the run.
type client struct {
	*http.Client

	ctx     context.Context //nolint:containedctx // of the run
	address string
}

// newClient returns a client for a server that is going to listen on a free address.
func (r *run) newClient() client {
	// One connection for each client; the default transport keeps two.
	transport := &http.Transport{MaxIdleConnsPerHost: r.clients, DisableCompression: true}
	return client{&http.Client{Transport: transport}, r.ctx, freeAddress(r.ctx)}
}

func (c client) get(path string) { c.send(http.MethodGet, path, nil, io.Discard) }

func (c client) put(bucket string, body []byte) {
	c.send(http.MethodPut, documentsOf(bucket), body, io.Discard)
}

// post posts a result of an external validation.
func (c client) post(revision int, name string) {
	path := fmt.Sprintf("%s/%d/validations/%s", allRevisions, revision, name)
	c.send(http.MethodPost, path, posting, io.Discard)
}

// posting is the body that an external validator posts.
var posting = []byte("status: success\nvalidator:\n  name: bench\n  version: 1.0.0\nerrors: []\n")

// fetch sends a request and returns the answer.
func (c client) fetch(method, path string, body []byte) []byte {
	var answer bytes.Buffer
	c.send(method, path, body, &answer)
	return answer.Bytes()
}

// send sends a request and reads the whole answer, so that the measured time includes its end.
func (c client) send(method, path string, body []byte, answer io.Writer) {
	request, err := http.NewRequestWithContext(c.ctx, method, "http://"+c.address+path, bytes.NewReader(body))
	must("make a request", err)
	if body != nil {
		request.Header.Set("Content-Type", "application/x-yaml")
	}
	response, err := c.Do(request)
	must("send a request", err)
	read(response, method+" "+path, answer)
}

// read reads the answer to a request, which must have succeeded.
func read(response *http.Response, request string, answer io.Writer) {
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 2000))
		must(request, fmt.Errorf("%s: %s", response.Status, text))
	}
	_, err := io.Copy(answer, response.Body)
	must("read the answer to "+request, err)
}

// wire is a client's connection for rows with short requests, whose cost http.Client would distort. It sends the same
// bytes again and again, and reads the answers in the same goroutine.
type wire struct {
	net.Conn

	answers *bufio.Reader
}

// wires opens n connections to a server until the run ends.
func (r *run) wires(s *server, n int) (list []wire) {
	for range n {
		conn, err := new(net.Dialer).DialContext(r.ctx, "tcp", s.address)
		must("connect a client", err)
		r.cleanup(func() error {
			_ = conn.Close()
			return nil
		})
		list = append(list, wire{conn, bufio.NewReader(conn)})
	}
	return list
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
func (w wire) send(message []byte) {
	_, err := w.Write(message)
	must("send a request", err)
	response, err := http.ReadResponse(w.answers, nil)
	must("read an answer", err)
	line, _, _ := bytes.Cut(message, []byte("\r"))
	read(response, string(line), io.Discard)
}
