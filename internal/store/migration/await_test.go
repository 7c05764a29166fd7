package migration_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgproto3"

	"purser/internal/fault"
	"purser/internal/store/migration"
	"purser/internal/store/storetest"
)

// startRefusing returns the URL of a Postgres that answers every connection with an error.
func startRefusing(t *testing.T, code, message string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			backend := pgproto3.NewBackend(client, client)
			_, _ = backend.ReceiveStartupMessage()
			backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: message})
			_ = backend.Flush()
			_ = client.Close()
		}
	}()
	return "postgres://somebody:secret@" + listener.Addr().String() + "/somewhere?sslmode=disable"
}

func TestAwait(t *testing.T) {
	t.Parallel()

	t.Run("answers", func(t *testing.T) {
		t.Parallel()
		if err := migration.Await(t.Context(), storetest.Empty(t), 0, nil); err != nil {
			t.Error(err)
		}
	})

	for code, want := range map[string]string{
		"28P01": "check the user and the password", "28000": "check the user and the password", "3D000": "create the database",
	} {
		t.Run("refuses for good with "+code, func(t *testing.T) {
			t.Parallel()
			err := migration.Await(t.Context(), startRefusing(t, code, "no"), time.Hour, nil)
			wantFault(t, err, want)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("it tells the password: %v", err)
			}
		})
	}

	for code, c := range map[string]struct{ says, want string }{
		"57P03": {"the database system is starting up", "the database system is starting up (57P03)"},
		"55000": {`database "somewhere" is closed`, "database … is closed (55000)"},
	} {
		t.Run("refuses for now with "+code, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			var reported *fault.Fault
			err := migration.Await(ctx, startRefusing(t, code, c.says), time.Hour, func(reason *fault.Fault) {
				reported = reason
				cancel()
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want that of the context", err)
			}
			if reported.Kind != fault.Unavailable || reported.RetryAfter != time.Second {
				t.Errorf("fault %v, want one that passes", reported)
			}
			if diff := cmp.Diff("The server waits for its database: "+c.want, reported.Message); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
			if cause := reported.Unwrap(); cause == nil || !strings.Contains(cause.Error(), c.says) {
				t.Errorf("cause %v", cause)
			}
		})
	}

	t.Run("gives up", func(t *testing.T) {
		t.Parallel()
		url := startRefusing(t, "57P03", "the database system is starting up")
		_, address, _ := strings.Cut(url, "@")
		address, _, _ = strings.Cut(address, "/")
		err := migration.Await(t.Context(), url, 0, nil)
		wantFault(t, err, "the database at "+address+" did not answer within 0s: ")
		wantFault(t, err, "starting up")
	})
}
