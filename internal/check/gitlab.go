package check

import "fmt"

// gitlabIssue is an item of a code quality report (https://docs.gitlab.com/ci/testing/code_quality/).
type gitlabIssue struct {
	Description string         `json:"description"`
	Rule        string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
}

func gitlabOf(report Report) []gitlabIssue {
	issues, seen := []gitlabIssue{}, map[string]int{}
	for _, f := range report.Findings {
		id := fingerprint(f)
		if seen[id]++; seen[id] > 1 { // GitLab shows only one of several with the same fingerprint
			id = fmt.Sprintf("%s-%d", id, seen[id])
		}
		path := f.File
		if path == "" && len(report.Files) > 0 { // a path is required
			path = report.Files[0]
		}
		issues = append(issues, gitlabIssue{
			sentence(f), f.Rule, id, [...]string{"major", "minor", "info"}[f.Level],
			gitlabLocation{path, gitlabLines{max(1, f.Line)}},
		})
	}
	return issues
}
