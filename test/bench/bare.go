package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
)

// bareVariable is the environment variable that makes the bench a bare server, which does nothing but read requests to
// any path and answer with the bytes of a file. It is a process of its own, like the server that it is compared with.
const bareVariable = "BENCH_BARE"

// bareWait is a path of the bare server where requests wait until the client gives up.
const bareWait = "/wait"

// startBare runs a bare server.
func (b *bench) startBare(ctx context.Context, answer []byte) (_ *server, err error) {
	file := filepath.Join(b.dir, "answer")
	if err := os.WriteFile(file, answer, 0o600); err != nil {
		return nil, fmt.Errorf("keep an answer: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the bench itself: %w", err)
	}
	s := &server{Client: &http.Client{}}
	defer func() {
		if err != nil {
			err = s.stop(err)
		}
	}()
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s.url = "http://" + address
	command := exec.CommandContext(ctx, self, address)
	command.Env = append(os.Environ(), bareVariable+"="+file)
	if err := s.launch(command, filepath.Join(b.dir, "bare.log")); err != nil {
		return nil, err
	}
	return s, s.ready(ctx)
}

// serveBare serves as a bare server until ctx ends.
func serveBare(ctx context.Context, file, address string) error {
	answer, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	router := chi.NewRouter()
	router.HandleFunc("/*", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-yaml")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer)
	})
	var waiting atomic.Int64
	router.Get(bareWait, func(_ http.ResponseWriter, r *http.Request) {
		waiting.Add(1)
		defer waiting.Add(-1)
		<-r.Context().Done()
	})
	router.Get("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "\npurser_waiting_requests %d\n", waiting.Load())
	})
	bare := &http.Server{Addr: address, Handler: router, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = bare.Close() })
	if err := bare.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the answer: %w", err)
	}
	return nil
}
