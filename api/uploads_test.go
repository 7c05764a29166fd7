package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
)

const mib = 1 << 20

// Bodies that are announced but have not arrived keep no memory from others.
func TestUploads_Read_announced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		uploads := newUploads(0, 100*mib, time.Minute)
		var slow []*io.PipeWriter
		for _, owner := range []string{"a", "b", "c", "d", "a", "b", "c", "d"} {
			body, send := io.Pipe()
			go upload(t, uploads, owner, body, 30*mib)
			_, _ = send.Write(make([]byte, mib+1))
			slow = append(slow, send)
		}
		synctest.Wait()
		began := time.Now()
		err := upload(t, uploads, "e", bytes.NewReader(make([]byte, 30*mib)), 30*mib)
		if took := time.Since(began); err != nil || took > 0 {
			t.Errorf("another body after %v: %v", took, err)
		}
		for _, send := range slow {
			_ = send.Close()
		}
	})
}

// Of bodies that wait for each other, some give up within ten seconds each, and others are read.
func TestUploads_Read_deadlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		uploads, began := newUploads(0, 40*mib, time.Minute), time.Now()
		outcomes := make(chan error)
		for _, owner := range []string{"a", "b", "c", "d"} {
			go func() { outcomes <- upload(t, uploads, owner, bytes.NewReader(make([]byte, 30*mib)), 30*mib) }()
		}
		read := 0
		for range 4 {
			if err := <-outcomes; err == nil {
				read++
			} else if fault.KindOf(err) != fault.Unavailable {
				t.Errorf("a body that gives up: %v", err)
			}
		}
		if took := time.Since(began); read == 0 || took > 30*time.Second {
			t.Errorf("%d bodies were read, in %v", read, took)
		}
	})
}

// ownedBy returns a context of a test for requests of a user.
func ownedBy(t *testing.T, user string) context.Context {
	t.Helper()
	return budget.WithOwner(t.Context(), budget.Owner{User: user})
}

// upload reads a body of an announced size and releases its memory.
func upload(t *testing.T, uploads *uploads, owner string, body io.Reader, size int64) error {
	t.Helper()
	r := httptest.NewRequestWithContext(ownedBy(t, owner), http.MethodPut, "/", body)
	r.ContentLength = size
	_, _, end, err := uploads.readLarge(httptest.NewRecorder(), r, 32*mib)
	if err == nil {
		end()
	}
	return err
}
