package api_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// archiveOf returns a zip archive of files. Equal files give equal archives.
func archiveOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		part, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// library returns the archive of a library with one class. more is appended to its manifest.
func library(t *testing.T, name, version, more string) string {
	t.Helper()
	return archiveOf(t, map[string]string{
		"manifest.yaml": fmt.Sprintf("Format: MuranoPL/1.4\nType: Library\nFullName: %s\nVersion: %s\nDescription: x\n"+
			"Classes: {%s: A.yaml}\n%s", name, version, name, more),
		"LICENSE": "", "Classes/A.yaml": "Name: " + name + "\n", "Resources/run.sh": "echo " + version,
	})
}

// asZip is the Content-Type header of archives.
var asZip = []string{"Content-Type", "application/zip"}

func (s site) putPackage(t *testing.T, bucket, name, archive string) response {
	t.Helper()
	return s.do(t, http.MethodPut, "buckets/"+bucket+"/packages/"+name, archive, asZip...)
}

// A revision can have packages and documents. Packages have diffs, rollbacks and conditional requests like documents.
func TestPackages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", layeringPolicy("lp")+doc("acme/Widget/v1", "w1", "{a: 1}")).is(t, http.StatusOK)
	first := library(t, "a.Cache", "1.0.0", "Tags: [x]\n")
	put := s.putPackage(t, "catalog", "a.Cache", first).is(t, http.StatusOK)
	if got := put.Header.Get("Purser-Changes"); got != "added=1, modified=0, deleted=0, unchanged=0" {
		t.Errorf("Purser-Changes %q", got)
	}
	s.putPackage(t, "catalog", "a.Other", library(t, "a.Other", "0.1", "Require: {a.Cache: '>=2'}\nNew: 1\n")).is(t, http.StatusOK)
	second := library(t, "a.Cache", "2.0.0", "Tags: [x]\n")
	s.putPackage(t, "catalog", "a.Cache", second).is(t, http.StatusOK)

	again := s.putPackage(t, "catalog", "a.Cache", second).is(t, http.StatusOK)
	if got := again.Header.Get("Purser-Revision"); got != "4" {
		t.Errorf("the same package made revision %s", got)
	}
	for revision, want := range map[string]string{"2": first, "3": first, "4": second} {
		got := s.get(t, "revisions/"+revision+"/packages/a.Cache").is(t, http.StatusOK)
		tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(want)))
		if got.text != want || got.Header.Get("ETag") != tag || got.Header.Get("Content-Type") != "application/zip" {
			t.Errorf("revision %s: %d bytes, %v, want ETag %s", revision, len(got.text), got.Header, tag)
		}
		s.get(t, "revisions/"+revision+"/packages/a.Cache", "If-None-Match", tag).is(t, http.StatusNotModified)
	}
	if names := namesOf(s.get(t, "revisions/4/packages").results(t)); names != "a.Cache a.Other" {
		t.Errorf("packages %s", names)
	}
	report := s.get(t, "revisions/4/packages/a.Other/report", "Accept", "application/json").is(t, http.StatusOK).text
	if want := `"warnings":[{"code":"W010","message":"Unknown keyword \"New\"","file":"manifest.yaml","line":8,"column":1}]`; !strings.Contains(report, want) {
		t.Errorf("the report %s, want %s", report, want)
	}
	diff := s.get(t, "revisions/2/deepdiff/4?format=unified").is(t, http.StatusOK).text
	if !strings.Contains(diff, "Resources/run.sh") || !strings.Contains(diff, "+    Version: 2.0.0") {
		t.Errorf("the diff does not show the files:\n%s", diff)
	}
	s.get(t, "revisions/4/packages/a.Cahce").isFault(t, http.StatusNotFound, "PackageNotFound", "did you mean a.Cache?")
	one := s.get(t, "revisions/2/packages/zzz")
	if one.isFault(t, http.StatusNotFound, "PackageNotFound", "it has 1 package"); strings.Contains(one.text, "1 packages") {
		t.Error(one.text)
	}

	s.post(t, "rollback/2", "").is(t, http.StatusCreated)
	if got := s.get(t, "revisions/5/packages/a.Cache").is(t, http.StatusOK); got.text != first {
		t.Error("a rollback does not bring the archive back")
	}
	if names := namesOf(s.get(t, "revisions/5/packages").results(t)); names != "a.Cache" {
		t.Errorf("packages after a rollback: %s", names)
	}
	if got := s.get(t, "revisions/5/documents?schema=acme").is(t, http.StatusOK).documents(t); len(got) != 1 {
		t.Errorf("%d other documents", len(got))
	}
}

func namesOf(results []any) string {
	var names []string
	for _, result := range results {
		view, _ := result.(map[string]any)
		names = append(names, fmt.Sprint(view["name"]))
	}
	return strings.Join(names, " ")
}

// Errors in a package are reported with their place, and nothing is stored.
func TestPackages_invalid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	bad := archiveOf(t, map[string]string{
		"manifest.yaml": "Type: Plugin\nFullName: a.B\nDescription: x", "LICENSE": "", "Classes/B.yaml": "Name: b-c",
	})
	for _, path := range []string{"buckets/catalog/packages/a.B", "buckets/catalog/packages/a.B?dry-run=true", "packages/check"} {
		method := http.MethodPut
		if path == "packages/check" {
			method = http.MethodPost
		}
		got := s.do(t, method, path, bad, asZip...)
		got.isFault(t, http.StatusBadRequest, "InvalidPackage", "2 errors")
		for _, want := range []string{"code: MAN:E071", "file: manifest.yaml", "line: 1", "column: 7", "code: MPL:E011"} {
			if !strings.Contains(got.text, want) {
				t.Errorf("%s does not say %q:\n%s", path, want, got.text)
			}
		}
	}
	for name, body := range map[string]string{
		"no zip": "PK", "a truncated zip": bad[:len(bad)-20],
		"a bomb":       archiveOf(t, map[string]string{"zeros": strings.Repeat("\x00", 40<<20)}),
		"a name above": archiveOf(t, map[string]string{"manifest.yaml": "Type: Library\nFullName: a.B", "../x": "x"}),
	} {
		t.Log(name)
		s.putPackage(t, "catalog", "a.B", body).isFault(t, http.StatusBadRequest, "InvalidPackage")
	}
	good := library(t, "a.B", "1", "")
	s.putPackage(t, "catalog", "a.C", good).isFault(t, http.StatusBadRequest, "InvalidPackage", "PUT it to .../packages/a.B")
	s.do(t, http.MethodPut, "buckets/catalog/packages/a.B", good, inYAML...).isFault(t, http.StatusUnsupportedMediaType, "HTTPUnsupportedMediaType", "application/zip")
	s.do(t, http.MethodPost, "packages/check", good, asZip...).is(t, http.StatusOK)
	s.do(t, http.MethodPut, "buckets/catalog/packages/a.B?dry-run=true", good, asZip...).is(t, http.StatusOK)
	if got := s.get(t, "revisions").is(t, http.StatusOK).mapping(t)["count"]; got != 0 {
		t.Errorf("%v revisions", got)
	}
	s.put(t, "site", doc("acme/Widget/v1", "w1", "{}")).is(t, http.StatusOK)
	s.putPackage(t, "catalog", "a.B", good).is(t, http.StatusOK)
	s.putPackage(t, "other", "a.B", good).isFault(t, http.StatusConflict, "DuplicateDocumentExists", "a.B")
}

// A document that describes a package may be put again, or moved, while its archive is stored. Documents that the
// server has not read from an archive are refused.
func TestPackages_asDocuments(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	archive := library(t, "a.B", "1", "")
	s.putPackage(t, "catalog", "a.B", archive).is(t, http.StatusOK)
	pulled := s.get(t, "revisions/1/documents").is(t, http.StatusOK).text
	s.put(t, "catalog", pulled).is(t, http.StatusOK)
	s.put(t, "catalog", "").is(t, http.StatusOK)
	s.put(t, "elsewhere", strings.Replace(pulled, "storagePolicy: cleartext", "storagePolicy: cleartext\n  labels: {a: b}", 1)).
		is(t, http.StatusOK)
	if got := s.get(t, "revisions/latest/packages/a.B").is(t, http.StatusOK); got.text != archive {
		t.Error("a document that was put back has lost its archive")
	}
	s.put(t, "elsewhere", strings.Replace(pulled, "Version: 1", "Version: 2", 1)).
		isFault(t, http.StatusBadRequest, "InvalidPackage", "/api/v1.0/buckets/elsewhere/packages/a.B")

	s.put(t, "elsewhere", strings.Replace(pulled, "  name: a.B", "  name: a.C", 1)).
		isFault(t, http.StatusBadRequest, "InvalidPackage", "is named a.C and describes the package a.B")

	// Once no revision has the package, its archive is deleted, so the document alone is refused.
	s.put(t, "elsewhere", "").is(t, http.StatusOK)
	s.post(t, "revisions/prune?keep=1", "").is(t, http.StatusOK)
	s.put(t, "catalog", pulled).isFault(t, http.StatusBadRequest, "InvalidPackage", "no archive of it is stored")
	s.putPackage(t, "catalog", "a.B", archive).is(t, http.StatusOK)
}

// Packages must be consistent if a policy requires it.
func TestPackages_validation(t *testing.T) {
	t.Parallel()
	const validation = "murano-package-validation"
	s := newSite(t)
	s.put(t, "policy", policy("ready", validation)).is(t, http.StatusOK)
	s.isVerdict(t, "1", "success; ready: "+validation+"=success; ignored: "+own+"=success")
	s.putPackage(t, "catalog", "a.App", library(t, "a.App", "1", "Require: {a.Lib: '>=1.2,<2'}\n")).is(t, http.StatusOK)
	s.isVerdict(t, "2", "failure; ready: "+validation+"=failure; ignored: "+own+"=success")
	for version, want := range map[string]string{
		"1.1": "Package a.App requires a.Lib >=1.2,<2, but the revision has version 1.1.0", "1.3": "",
	} {
		s.putPackage(t, "catalog", "a.Lib", library(t, "a.Lib", version, "")).is(t, http.StatusOK)
		got := s.get(t, "revisions/latest/findings", "Accept", "text/plain").is(t, http.StatusOK).text
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("a.Lib %s: %q, want %q", version, got, want)
		}
	}
	s.putPackage(t, "more", "b.Lib", archiveOf(t, map[string]string{
		"manifest.yaml": "Type: Library\nFullName: b.Lib\nDescription: x\nClasses: {a.Lib: A.yaml}", "LICENSE": "", "Classes/A.yaml": "Name: a.Lib",
	})).is(t, http.StatusOK)
	if got := s.get(t, "revisions/latest/status", "Accept", "text/plain").text; !strings.Contains(got, "both declare the class a.Lib") {
		t.Errorf("status %q", got)
	}
	s.post(t, "revisions/2/validations/"+validation, "{status: success, validator: x}").
		isFault(t, http.StatusForbidden, "HTTPForbidden", "performed by the server")
}

// A document that describes a package is not encrypted, because its archive is not.
func TestPackages_encrypted(t *testing.T) {
	t.Parallel()
	s := sealedSite(t)
	s.putPackage(t, "catalog", "a.B", library(t, "a.B", "1", "")).is(t, http.StatusOK)
	pulled := s.get(t, "revisions/1/documents").is(t, http.StatusOK).text
	s.put(t, "catalog", strings.Replace(pulled, "storagePolicy: cleartext", "storagePolicy: encrypted", 1)).
		isFault(t, http.StatusBadRequest, "InvalidPackage", "packages are not encrypted")
}

// A package is stored with its archive even if an equal document without one exists, which servers with
// --compat=deckhand accept.
func TestPackages_withoutArchive(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openSite(t, settings{url: url, defaults: validations.DefaultValidations()})
	archive := library(t, "a.B", "1", "")
	s.putPackage(t, "catalog", "a.B", archive).is(t, http.StatusOK)
	pulled := s.get(t, "revisions/1/documents").is(t, http.StatusOK).text
	s.put(t, "catalog", "").is(t, http.StatusOK)
	s.post(t, "revisions/prune?keep=1", "").is(t, http.StatusOK)
	compat := openSite(t, settings{url: url, compat: true})
	compat.put(t, "catalog", pulled).is(t, http.StatusOK)
	s.get(t, "revisions/latest/packages/a.B").isFault(t, http.StatusNotFound, "PackageNotFound", "no archive of the package a.B")
	for range 2 { // the second time, nothing changes
		s.putPackage(t, "catalog", "a.B", archive).is(t, http.StatusOK)
		if got := s.get(t, "revisions/4/packages/a.B").is(t, http.StatusOK); got.text != archive {
			t.Error("the archive is not what was put")
		}
	}
	if head := s.head(t); head != "4" {
		t.Errorf("the newest revision is %s, want 4", head)
	}
}

// With two servers on a database, one prunes and purges revisions that the other has stored. An archive is deleted with
// the last revision that has it.
func TestPackages_pruned(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openSite(t, settings{url: url, defaults: validations.DefaultValidations()})
	other := openSite(t, settings{url: url, defaults: validations.DefaultValidations()})
	archives := func() (n int) {
		t.Helper()
		if err := storetest.Connect(t, url).QueryRow(t.Context(), `SELECT count(*) FROM archives`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	first, second, lib := library(t, "a.B", "1", ""), library(t, "a.B", "2", ""), library(t, "a.L", "1", "")
	s.putPackage(t, "catalog", "a.B", first).is(t, http.StatusOK)
	s.putPackage(t, "catalog", "a.B", second).is(t, http.StatusOK)
	other.putPackage(t, "libs", "a.L", lib).is(t, http.StatusOK)
	s.putPackage(t, "catalog", "a.B", strings.Replace(second, "PK", "XX", 1)).isFault(t, http.StatusBadRequest, "InvalidPackage")
	other.post(t, "rollback/1", "").is(t, http.StatusCreated)
	s.post(t, "rollback/3", "").is(t, http.StatusCreated)
	other.post(t, "revisions/prune?keep=1", "").is(t, http.StatusOK)
	for _, server := range []site{s, other} {
		for name, want := range map[string]string{"a.B": second, "a.L": lib} {
			if got := server.get(t, "revisions/5/packages/"+name).is(t, http.StatusOK).text; got != want {
				t.Errorf("the archive of %s has %d bytes, want %d", name, len(got), len(want))
			}
		}
	}
	if n := archives(); n != 2 {
		t.Errorf("%d archives are stored, want 2", n)
	}
	other.put(t, "libs", "").is(t, http.StatusOK)
	s.post(t, "revisions/prune?keep=1", "").is(t, http.StatusOK)
	if n := archives(); n != 1 {
		t.Errorf("%d archives are stored, want 1", n)
	}
	other.do(t, http.MethodDelete, "revisions", "").is(t, http.StatusNoContent)
	if n := archives(); n != 0 {
		t.Errorf("%d archives are stored, want none", n)
	}
}
