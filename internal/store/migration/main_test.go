package migration_test

import (
	"testing"

	"purser/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }
