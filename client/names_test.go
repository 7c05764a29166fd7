package client_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"purser/client"
)

// named has a variable of each type of this project that a program gets from the package or passes to it. Compiling it
// proves that the program can name them.
var named = struct {
	answer     client.Answer
	cause      client.Cause
	change     client.Change
	counts     client.Counts
	difference client.Difference
	failure    client.Error
	finding    client.Finding
	findings   client.Findings
	identity   client.Identity
	message    client.Message
	number     client.Number
	optional   client.Optional
	policy     client.Policy
	posted     client.Posted
	preview    client.Preview
	revision   client.Revision
	tags       client.Tags
	tls        client.TLS
	validation client.Validation
	verdict    client.Verdict
	written    client.Written

	bucket         client.Bucket
	bucketList     client.BucketList
	details        client.Details
	effect         client.Effect
	last           client.Last
	purge          client.Purge
	revisionList   client.RevisionList
	revisions      client.Revisions
	validationList client.ValidationList

	changes       client.Changes
	documentName  client.DocumentName
	newest        client.Newest
	waived        client.Waived
	claim         client.Claimed
	option        client.Option
	other         client.Other
	posting       client.Result
	previewResult client.PreviewResult
	validator     client.Validator
	violation     client.Violation
	rendered      client.Rendered
	alike         client.RenderedDifference
	unrendered    client.UnrenderedSide
	upstream      client.Upstream
	failing       client.Failing
}{}

// A program can name every type of this project in the signatures of the package, in the fields of those types and in
// their methods.
func TestNames(t *testing.T) {
	t.Parallel()
	names := map[reflect.Type]bool{}
	all := reflect.TypeOf(named)
	for field := range all.Fields() {
		names[field.Type] = true
	}
	seen := map[reflect.Type]bool{}
	var walk func(of reflect.Type, from string)
	walk = func(of reflect.Type, from string) {
		if seen[of] {
			return
		}
		seen[of] = true
		if strings.HasPrefix(of.PkgPath(), "purser/internal/") && !names[of] {
			t.Errorf("%s, of %s, has no name in purser/client", of, from)
		}
		for _, inner := range partsOf(of) {
			walk(inner, of.String())
		}
	}
	for _, of := range []reflect.Type{
		all, reflect.TypeFor[*client.Client](), reflect.TypeOf(client.New), reflect.TypeOf(client.WithTLS),
	} {
		walk(of, "the package")
	}
}

// partsOf returns the types that a type is made of, and those in the signatures of its methods.
func partsOf(of reflect.Type) (parts []reflect.Type) {
	switch of.Kind() { //nolint:exhaustive // the others have no parts
	case reflect.Map:
		parts = append(parts, of.Key(), of.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		parts = append(parts, of.Elem())
	case reflect.Func:
		parts = slices.AppendSeq(slices.Collect(of.Ins()), of.Outs())
	case reflect.Struct:
		for field := range of.Fields() {
			if field.IsExported() || of.Name() == "" {
				parts = append(parts, field.Type)
			}
		}
	}
	if !strings.HasPrefix(of.PkgPath(), "purser/") {
		return parts
	}
	for method := range reflect.PointerTo(of).Methods() { // also those of the type itself
		parts = append(parts, method.Type)
	}
	return parts
}
