package check

import (
	"fmt"
	"strings"
)

// github returns workflow commands (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands)
// and the summary.
func github(report Report) []byte {
	var b strings.Builder
	ofData := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	ofProperty := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range report.Findings {
		command := [...]string{"error", "warning", "notice"}[f.Level]
		properties := "title=" + ofProperty.Replace("purser: "+f.Rule)
		if f.File != "" {
			properties = "file=" + ofProperty.Replace(f.File) + "," + properties
		}
		if f.Line > 0 {
			properties += fmt.Sprintf(",line=%d,col=%d", f.Line, max(1, f.Column))
		}
		lines := []string{sentence(f)}
		if f.Advice != "" {
			lines = append(lines, f.Advice)
		}
		for _, step := range f.Chain {
			lines = append(lines, strings.TrimPrefix(placeText(step.Place)+": ", ": ")+step.Message)
		}
		fmt.Fprintf(&b, "::%s %s::%s\n", command, properties, ofData.Replace(strings.Join(lines, "\n")))
	}
	b.WriteString(summary(report) + "\n")
	return []byte(b.String())
}
