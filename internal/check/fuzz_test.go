package check_test

import (
	"bytes"
	"testing"

	"purser/internal/check"
)

// A check of any files ends with a report whose findings are at lines of these files, and a second check reports the
// same.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(layers+widgets), []byte(doc("acme/Widget/v1", "w", "{size: 101}")))
	f.Add([]byte(layers), []byte("a: [\n---\n- x\n---\n{}\n"))
	f.Add([]byte("[{\"schema\": 1}]"), []byte("--- &a\nx: *a\n...\n%YAML 1.1\n---\n"))
	f.Add([]byte("schema: a/B/v1\r\nmetadata: {schema: metadata/Document/v1, name: x}\r\n"), []byte("\xef\xbb\xbf"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		const most = 10_000
		if len(a)+len(b) > most {
			t.Skip()
		}
		files := []check.File{{Name: "a.yaml", Text: a, Found: true}, {Name: "b.json", Text: b}, {Name: "c.yaml", Text: b}}
		checker := check.New(check.Options{})
		report := run(t, checker, files...)
		lengths := map[string]int{"a.yaml": bytes.Count(a, []byte("\n")) + 1}
		lengths["b.json"] = bytes.Count(b, []byte("\n")) + 1
		lengths["c.yaml"] = lengths["b.json"]
		for _, finding := range report.Findings {
			if finding.Message == "" || finding.File == "" || finding.Line < 0 || finding.Line > lengths[finding.File] {
				t.Errorf("a finding at line %d of %q, which has %d: %q", finding.Line, finding.File, lengths[finding.File],
					finding.Message)
			}
		}
		again := run(t, checker, files...)
		if len(again.Findings) != len(report.Findings) || again.Documents != report.Documents {
			t.Errorf("first\n%v\nthen\n%v", lines(report), lines(again))
		}
	})
}
