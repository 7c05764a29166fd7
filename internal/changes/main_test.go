package changes

import (
	"flag"
	"testing"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "25") // -rapid.checks=1000 asks for more
	m.Run()
}
