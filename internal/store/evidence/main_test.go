package evidence_test

import (
	"testing"

	"purser/internal/store/sitetest"
	"purser/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var (
	open, openStore, defaults, changing = sitetest.Open, sitetest.OpenStore, sitetest.Options, sitetest.Changing
	put, widget, control, pagesRead     = sitetest.Put, sitetest.Widget, sitetest.Control, sitetest.PagesRead
)
