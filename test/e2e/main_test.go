// Package e2e_test treats the built server as a black box: tests talk to the real program over HTTP and stop it with
// SIGTERM, after which it must exit with 0. The program is built with the race detector, and a data race ends it. Every
// request and every answer is held against openapi.yaml; requests that break the contract on purpose say so.
//
// A test that asks for a server without flags gets one that other tests have used before and whose site was emptied
// since; nobody else talks to it meanwhile. All other servers have a database of their own and live as long as their
// test.
package e2e_test

import (
	"testing"

	"purser/internal/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.AfterTests(idle.close)
	storetest.Main(m)
}
