// Package murano checks application packages of Murano, OpenStack's application catalogue, without running them.
//
//	pack (folder, file, zip) ─► Package ─► Validators (manifest, class, ui, package, plugins) ─► Report
//
// A Validator registers under a short name with the codes that it may report. What is an error follows the reference
// tool, murano-pkg-check, but where Murano itself accepts what the tool refuses: spec/murano.md §15. All work is
// counted in the budget of the context.
package murano
