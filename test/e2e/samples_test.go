package e2e_test

import "purser/test/samples"

// The documents of tests: see samples.
var (
	doc            = samples.Doc
	docWith        = samples.DocWith
	widget         = samples.Widget
	widgetOf       = samples.WidgetOf
	control        = samples.Control
	layeringPolicy = samples.LayeringPolicy
	dataSchema     = samples.DataSchema
	policy         = samples.Policy
	in             = samples.In
	clientVersions = samples.ClientVersions
	sized          = samples.Sized
	growing        = samples.Growing
	ring           = samples.Ring
	crossed        = samples.Crossed
	under          = samples.Under
	abstract       = samples.Abstract
	labelled       = samples.Labelled
	from           = samples.From
	substitutes    = samples.Substitutes
	secret         = samples.Secret
	inLayer        = samples.InLayer
	asControl      = samples.AsControl
)
