package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
)

// serveBytes is a server that does nothing but write an answer that lies ready.
func serveBytes(ctx context.Context, path string, answer []byte) (_ *server, stop func(), err error) {
	router := chi.NewRouter()
	router.Get(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-yaml")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer)
	})
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	bare := &http.Server{Handler: router, ReadHeaderTimeout: time.Minute}
	go func() { _ = bare.Serve(listener) }()
	return &server{url: "http://" + listener.Addr().String()}, func() { _ = bare.Close() }, nil
}
