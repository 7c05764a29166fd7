package deletion_test

import (
	"flag"
	"testing"

	"purser/internal/store/sitetest"
	"purser/internal/store/storetest"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "25") // of a database; -rapid.checks=1000 asks for more
	storetest.Main(m)
}

type (
	site   = sitetest.Site
	late   = sitetest.Late
	failer = sitetest.Failer
)

const widgetSchema = sitetest.WidgetSchema

var (
	open, openStore, defaults, changing = sitetest.Open, sitetest.OpenStore, sitetest.Options, sitetest.Changing
	put, widget, control                = sitetest.Put, sitetest.Widget, sitetest.Control
	all, shown, pagesRead               = sitetest.All, sitetest.Shown, sitetest.PagesRead
)
