package stream_test

import (
	"testing"

	"purser/internal/store/sitetest"
	"purser/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var (
	open, openStore, defaults = sitetest.Open, sitetest.OpenStore, sitetest.Options
	put, widget               = sitetest.Put, sitetest.Widget
)
