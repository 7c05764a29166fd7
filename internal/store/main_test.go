package store_test

import (
	"flag"
	"testing"

	"purser/internal/store/storetest"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "25") // of a database; -rapid.checks=1000 asks for more
	watchPartitions()
	storetest.Main(m)
}
