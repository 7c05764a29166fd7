package main

import (
	"slices"
	"strings"

	"purser/internal/revisions"
)

// pipeline is a job of GitHub Actions or GitLab CI, as its variables describe it. Parts that are not set are empty.
type pipeline struct {
	root           string // the folder of the clone
	repository     string // the URL of its pages
	commit         string // the id
	commits, files string // what the URL of a commit, and that of its files, has between the two
}

// pipelines returns the jobs of GitHub Actions and of GitLab CI that the variables which env looks up describe.
func pipelines(env func(string) string) []pipeline {
	github := ""
	if server, name := env("GITHUB_SERVER_URL"), env("GITHUB_REPOSITORY"); server != "" && name != "" {
		github = strings.TrimSuffix(server, "/") + "/" + name
	}
	return []pipeline{
		{env("GITHUB_WORKSPACE"), github, env("GITHUB_SHA"), "/commit/", "/blob/"},
		{env("CI_PROJECT_DIR"), env("CI_PROJECT_URL"), env("CI_COMMIT_SHA"), "/-/commit/", "/-/blob/"},
	}
}

// pipelineSource returns the URL of the commit that a pipeline of GitHub Actions or GitLab CI runs for, as the
// variables that env looks up have it; "" elsewhere.
func pipelineSource(env func(string) string) string {
	for _, job := range slices.Backward(pipelines(env)) {
		if job.repository != "" && job.commit != "" {
			return checkedSource(job.repository + job.commits + job.commit)
		}
	}
	return ""
}

// checkedSource returns the URL of a commit, "" if servers would refuse it, such as one of http://.
func checkedSource(url string) string {
	source, err := revisions.ParseSource(url)
	if err != nil {
		return ""
	}
	return string(source)
}
