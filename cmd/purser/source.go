package main

import "purser/internal/revisions"

// pipelineSource returns the URL of the commit that a pipeline of GitHub Actions or GitLab CI runs for, as the
// variables that env looks up have it; "" elsewhere.
func pipelineSource(env func(string) string) string {
	if project, id := env("CI_PROJECT_URL"), env("CI_COMMIT_SHA"); project != "" && id != "" {
		return checkedSource(project + "/-/commit/" + id)
	}
	server, repository, id := env("GITHUB_SERVER_URL"), env("GITHUB_REPOSITORY"), env("GITHUB_SHA")
	if server == "" || repository == "" || id == "" {
		return ""
	}
	return checkedSource(server + "/" + repository + "/commit/" + id)
}

// checkedSource returns the URL of a commit, "" if servers would refuse it, such as one of http://.
func checkedSource(url string) string {
	source, err := revisions.ParseSource(url)
	if err != nil {
		return ""
	}
	return string(source)
}
