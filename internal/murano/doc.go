// Package murano checks application packages of Murano, OpenStack's application catalogue, without running them.
//
//	folder, file, zip ─► Package ─► Validators (manifest, class, ui, package, plugins) ─► Report
//
// A Validator registers under a short name with the codes that it may report. Errors are those of murano-pkg-check,
// except where Murano itself accepts what that tool refuses. All work is charged to the budget of the context.
package murano
