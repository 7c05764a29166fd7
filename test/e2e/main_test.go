// Package e2e_test treats the built server as a black box: tests talk to the real program over HTTP and stop it with
// SIGTERM, after which it must exit with 0. The program is built with the race detector, and a data race ends it. Every
// request and every answer is held against openapi.yaml; requests that break the contract on purpose say so.
//
// A test that asks for a server without flags gets one that other tests have used before and whose site was emptied
// since; nobody else talks to it meanwhile. All other servers have a database of their own and live as long as their
// test.
package e2e_test

import (
	"flag"
	"path/filepath"
	"testing"

	"purser/internal/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.AfterTests(idle.close)
	storetest.Main(m)
}

var shared = flag.String("shared", "", "folder that holds corpus/, real sites")

// corpus returns the files of real sites; none without -shared.
func corpus(t *testing.T) []string {
	t.Helper()
	if *shared == "" {
		return nil
	}
	sites, err := filepath.Glob(filepath.Join(*shared, "corpus", "*", "documents.yaml"))
	if err != nil || len(sites) == 0 {
		t.Fatalf("%d sites in %s: %v", len(sites), *shared, err)
	}
	return sites
}
