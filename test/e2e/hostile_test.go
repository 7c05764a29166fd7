package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Limits of servers that get hostile requests, low enough to be reached quickly.
const (
	maxBody      = 10 << 20
	maxDocuments = 1000
)

func startHostile(t *testing.T, flags ...string) *server {
	t.Helper()
	s := startLean(t, append([]string{"--max-body", strconv.Itoa(maxBody), "--max-documents", strconv.Itoa(maxDocuments)}, flags...)...)
	s.put(t, "good", widget("good", "{x: 1}")).is(t, http.StatusOK)
	return s
}

// hostile is a body that must be refused, with the words that the message must contain.
type hostile struct {
	body   string
	status int
	help   []string
}

// refusesAll sends bodies one after the other. None may be stored, take much time or memory, or leave the server in a
// worse state.
func (s *server) refusesAll(t *testing.T, cases map[string]hostile) {
	t.Helper()
	for name, c := range cases {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			errorType := map[int]string{
				http.StatusBadRequest: "HTTPBadRequest", http.StatusRequestEntityTooLarge: "HTTPPayloadTooLarge",
			}[c.status]
			s.refuses(t, request{body: c.body}, c.status, errorType, c.help...)
		})
	}
}

// refuses checks that a request is refused.
func (s *server) refuses(t *testing.T, r request, status int, errorType string, help ...string) {
	t.Helper()
	before := s.revisions(t)
	r.method, r.path, r.bad = http.MethodPut, "buckets/hostile/documents", true
	if r.header == nil {
		r.header = yamlBody()
	}
	s.affords(t, func() { s.send(t, r).fails(t, status, errorType, help...) })
	if after := s.revisions(t); after != before {
		t.Errorf("%d revisions after the refusal, %d before", after, before)
	}
}

// staysSmall checks that the server has needed no more memory than bodies of the default limit may take (issue 2, speed
// 7).
func (s *server) staysSmall(t *testing.T) {
	t.Helper()
	const most = (6*32 + 64) << 20
	if used := s.mostMemory(t); used > most {
		t.Errorf("the server had up to %d MiB in memory, want at most %d", used>>20, most>>20)
	} else {
		t.Logf("at most %d MiB in memory", used>>20)
	}
}

//nolint:paralleltest,tparallel // one after the other, for the time and memory that each takes
func TestHostile_size(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	large := widget("w", "x") + strings.Repeat("# much\n", maxBody/7)
	const tooLarge = http.StatusRequestEntityTooLarge
	limit := []string{strconv.Itoa(maxBody), "--max-body"}
	t.Run("body", func(t *testing.T) {
		s.refuses(t, request{body: large}, tooLarge, "HTTPPayloadTooLarge", limit...)
	})
	t.Run("body without a length", func(t *testing.T) {
		s.refuses(t, request{stream: io.LimitReader(strings.NewReader(large), int64(len(large)))}, tooLarge, "HTTPPayloadTooLarge", limit...)
	})
	t.Run("body behind gzip", func(t *testing.T) {
		bomb := gzipped(t, strings.Repeat("#\n", 100<<20))
		s.refuses(t, request{body: bomb, header: map[string]string{"Content-Type": typeXYAML, "Content-Encoding": "gzip"}},
			tooLarge, "HTTPPayloadTooLarge", append(limit, "decompressed")...)
	})
	s.refusesAll(t, map[string]hostile{
		"documents":          {strings.Repeat("--- {}\n", maxDocuments+1), tooLarge, []string{"1000", "--max-documents"}},
		"JSON documents":     {"[" + strings.Repeat("{},", maxDocuments) + "{}]", tooLarge, []string{"1000", "--max-documents"}},
		"document":           {widget("w", strings.Repeat("x", 8<<20)), tooLarge, []string{"document 1", "4194304", "--max-document-size"}},
		"keys":               {widget("w", numbered("\n  %d:", 1_000_000)), tooLarge, []string{"document 1", "--max-"}},
		"keys in little":     {widget("w", "{"+numbered("%d,", 200_000)+"}"), tooLarge, []string{"--max-values"}},
		"items":              {widget("w", "["+strings.Repeat("1,", 1_000_000)+"]"), tooLarge, []string{"--max-values"}},
		"aliased text":       {widget("w", "[&a "+strings.Repeat("x", 100_000)+strings.Repeat(", *a", 100)+"]"), tooLarge, []string{"aliases", "--max-document-size"}},
		"alias bomb":         {widget("w", aliasBomb(40)), tooLarge, []string{"document 1", "aliases", "--max-values"}},
		"merge keys":         {widget("w", mergeBomb(40)), tooLarge, []string{"aliases", "--max-values"}},
		"flow depth":         {widget("w", strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)), tooLarge, []string{"deeper than 100", "--max-depth"}},
		"flow map depth":     {widget("w", strings.Repeat("{a: ", 9_000)+strings.Repeat("}", 9_000)), tooLarge, []string{"deeper than 100", "--max-depth"}},
		"block depth":        {widget("w", "\n  "+strings.Repeat("- ", 9_000)+"x"), tooLarge, []string{"deeper than 100", "--max-depth"}},
		"depth by directive": {"%YAML 1.1\n" + widget("w", strings.Repeat("[", 5_000)+strings.Repeat("]", 5_000)), tooLarge, []string{"--max-depth"}},
		"unclosed":           {widget("w", strings.Repeat("[", 100_000)), http.StatusRequestEntityTooLarge, []string{"nested deeper than 100"}},
	})
	t.Run("the server is well", func(t *testing.T) {
		s.put(t, "good", widget("good", "{x: 2}")).is(t, http.StatusOK)
		s.staysSmall(t)
	})
}

// A few bytes of gzip that expand to many tags with a long prefix cost very little.
func TestHostile_tagPrefix(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	body := "%TAG !e! tag:" + strings.Repeat("a", 400_000) + "\n---\n" + strings.Repeat("- !e!x y\n", 6000)
	packed := gzipped(t, body)
	s.affords(t, func() {
		got := s.send(t, request{
			method: http.MethodPut, path: "buckets/hostile/documents", bad: true, body: packed,
			header: map[string]string{"Content-Type": typeXYAML, "Content-Encoding": "gzip"},
		})
		got.fails(t, http.StatusBadRequest, "HTTPBadRequest", "the prefix of a %TAG directive has more than 1000 bytes")
		if len(got.text) >= 2000 {
			t.Errorf("an answer of %d bytes to %d", len(got.text), len(packed))
		}
	})
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// aliasBomb returns a document that doubles at each level.
func aliasBomb(levels int) string {
	var b strings.Builder
	b.WriteString("\n  a0: &a0 [x, x]")
	for i := range levels {
		fmt.Fprintf(&b, "\n  a%d: &a%d [*a%d, *a%d]", i+1, i+1, i, i)
	}
	return b.String()
}

// mergeBomb returns a document that merges the previous level twice at each level.
func mergeBomb(levels int) string {
	var b strings.Builder
	b.WriteString("\n  a0: &a0 {k: 1}")
	for i := range levels {
		fmt.Fprintf(&b, "\n  a%d: &a%d {<<: [*a%d, *a%d], k%d: {<<: *a%d}}", i+1, i+1, i, i, i, i)
	}
	return b.String()
}

//nolint:tparallel // one after the other, for the time and memory that each takes
func TestHostile_text(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	const bad = http.StatusBadRequest
	second := widget("fine", "{}")
	utf16 := func(text string) string {
		var b strings.Builder
		for _, c := range []byte(text) {
			b.Write([]byte{c, 0})
		}
		return b.String()
	}
	cases := map[string]hostile{
		"invalid UTF-8":         {second + widget("w", "\xff"), bad, []string{"line 10", "UTF-8"}},
		"overlong UTF-8":        {widget("w", "\xc0\x80"), bad, []string{"line 5", "UTF-8"}},
		"surrogates":            {widget("w", "\xed\xa0\x80"), bad, []string{"line 5", "UTF-8"}},
		"UTF-16":                {"\xff\xfe" + utf16(second), bad, []string{"UTF-16"}},
		"UTF-16 without mark":   {utf16(second), bad, []string{"line 1", "NUL", "UTF-8"}},
		"NUL byte":              {widget("w", "a\x00b"), bad, []string{"line 5", "NUL"}},
		"control character":     {widget("w", "a\x07b"), bad, []string{"control character"}},
		"not YAML":              {second + "---\na: [b\n", bad, []string{"document 2", "line"}},
		"tab indentation":       {"schema: a/B/v1\nmetadata:\n\tname: x\n", bad, []string{"document 1", "line"}},
		"unknown alias":         {widget("w", "*nothing"), bad, []string{"document 1", "line 5", "no such anchor"}},
		"alias to itself":       {widget("w", "&a [*a]"), bad, []string{"line 5", "alias is inside"}},
		"alias to itself, map":  {widget("w", "&a {b: {c: *a}}"), bad, []string{"line 5", "alias is inside"}},
		"merge of itself":       {widget("w", "&a {<<: *a}"), bad, []string{"line 5"}},
		"merge of text":         {widget("w", "{<<: text}"), bad, []string{"line 5", "<<"}},
		"list as key":           {widget("w", "\n  ? [a]\n  : 1"), bad, []string{"line 6", "key"}},
		"mapping as key":        {widget("w", "{{a: b}: 1}"), bad, []string{"line 5", "key"}},
		"boolean as key":        {widget("w", "{yes: 1}"), bad, []string{"line 5", "a key must be", "quote"}},
		"float as key":          {widget("w", "{1.5: 1}"), bad, []string{"line 5", "a key must be", "quote"}},
		"null as key":           {widget("w", "{~: 1}"), bad, []string{"line 5", "a key must be", "quote"}},
		"impossible date":       {widget("w", "2026-02-30"), bad, []string{"line 5", "there is no such date", "quote"}},
		"undeclared tag handle": {widget("w", "!e!x y"), bad, []string{"document 1"}},
		"null document":         {second + "---\n" + second, bad, []string{"indexes: 2."}},
		"scalar and list":       {second + "--- text\n--- [a]\n--- {}\n--- 5\n", bad, []string{"indexes: 2,3,4,5."}},
		"marker alone":          {"---", bad, []string{"indexes: 1."}},
		"NUL in metadata":       {docWith("acme/Widget/v1", "w", "{}", `, labels: {a: "b\0"}`), bad, []string{"document 1", "NUL"}},
	}
	for _, value := range []string{
		".nan", ".NaN", ".inf", "-.inf", "+.INF", "18446744073709551616", "-9223372036854775809", "0xfffffffffffffffff",
		strings.Repeat("9", 1000), "1.0e+400",
	} {
		cases["value "+brief(value[:min(len(value), 30)])] = hostile{widget("w", "{a: "+value+"}"), bad, []string{
			"document 1, line 5, column 11", "quote it",
		}}
	}
	for _, tag := range []string{
		"!!python/object:os.system {a: b}", "!!python/name:os.system ''", "!!python/object/apply:os.system [ls]", "!foo bar", "!foo {a: b}",
		"!!binary aGk=", "!!set {a}", "!!omap [a: b]", "!<tag:example.com,2000:x> y", "!!int abc", "!!bool maybe", "!!float x",
	} {
		cases["tag "+tag] = hostile{second + widget("w", "{a: "+tag+"}"), bad, []string{
			"document 2, line 10, column 11",
		}}
	}
	s.refusesAll(t, cases)
	t.Run("the server is well", func(t *testing.T) {
		s.put(t, "good", widget("good", "{x: 2}")).is(t, http.StatusOK)
		s.staysSmall(t)
	})
}

//nolint:paralleltest,tparallel // one after the other, for the time and memory that each takes
func TestHostile_JSON(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	frame := func(data string) string {
		return `[{"schema": "a/B/v1", "metadata": {"schema": "metadata/Control/v1", "name": "j"},` + "\n" + `"data": ` + data + "}]"
	}
	const bad, tooLarge = http.StatusBadRequest, http.StatusRequestEntityTooLarge
	for name, c := range map[string]hostile{
		"depth":            {frame(strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)), tooLarge, []string{"--max-depth"}},
		"more depth":       {frame(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)), bad, []string{"depth"}},
		"items":            {frame("[" + strings.Repeat("1,", 500_000) + "1]"), tooLarge, []string{"--max-values"}},
		"documents":        {"[" + strings.Repeat("{},", maxDocuments) + "{}]", tooLarge, []string{"--max-documents"}},
		"large integer":    {frame("18446744073709551616"), bad, []string{"line 2, column ", "integers have at most 64 bits"}},
		"large float":      {frame("1e400"), bad, []string{"line 2, column ", "numbers with a fraction or an exponent are below"}},
		"NaN":              {frame("NaN"), bad, []string{"line 2"}},
		"lone surrogate":   {frame(`"\ud800"`), bad, []string{"line 2"}},
		"invalid UTF-8":    {frame("\"\xff\""), bad, []string{"line 2", "UTF-8"}},
		"trailing comma":   {frame("[1,]"), bad, []string{"line 2"}},
		"two arrays":       {frame("1") + frame("2"), bad, []string{"line 2", "the value has ended before"}},
		"two objects":      {"{} {}", bad, []string{"line 1"}},
		"cut off":          {frame("1")[:60], bad, []string{"JSON"}},
		"list of scalars":  {`[1, "a", null, [], {}]`, bad, []string{"indexes: 1,2,3,4,5."}},
		"an injected item": {`{}], [{}`, bad, []string{"JSON"}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			errorType := map[int]string{bad: "HTTPBadRequest", tooLarge: "HTTPPayloadTooLarge"}[c.status]
			s.refuses(t, request{body: c.body, header: map[string]string{"Content-Type": typeJSON}}, c.status, errorType, c.help...)
		})
	}
	s.staysSmall(t)
}

// Many bodies at the same time do not each get the memory that a single body may take.
func TestHostile_manyAtOnce(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	costly := widget("w", "["+strings.Repeat("1,", 390_000)+"]")
	const n = 8
	got := s.atOnce(t, n, func(i int) (string, string) { return fmt.Sprintf("b%d", i), costly })
	if diff := cmp.Diff(map[int]int{http.StatusRequestEntityTooLarge: n}, got); diff != "" {
		t.Errorf("answers by status (-want +got):\n%s", diff)
	}
	s.isRevision(t, 1)
	s.staysSmall(t)
}
