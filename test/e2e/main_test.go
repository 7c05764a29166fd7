// Package e2e_test tests the built server as a black box, over HTTP. The server must exit with code 0 after SIGTERM. It
// is built with the race detector, and a data race ends it. All requests and answers are checked against openapi.yaml,
// except for requests that are marked because they break the contract on purpose.
//
// A test that calls start gets exclusive use of a server that other tests have used before, with an empty site. All
// other servers have a database of their own and run until the end of their test.
package e2e_test

import (
	"flag"
	"path/filepath"
	"testing"

	"purser/internal/store/storetest"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "25") // of a server; -rapid.checks=1000 asks for more
	storetest.AfterTests(idle.close)
	if below() != "" {
		storetest.Prepare(besideDecoy)
	}
	storetest.Main(m)
}

var shared = flag.String("shared", "", "folder that holds corpus/, real sites")

// corpus returns the files of real sites, none without -shared.
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
