package check

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The part of SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/) that is written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		ID       int                    `json:"id,omitempty"`
		Physical sarifPhysical          `json:"physicalLocation"`
		Logical  []sarifLogicalLocation `json:"logicalLocations,omitempty"`
		Message  *sarifText             `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogicalLocation struct {
		Name string `json:"fullyQualifiedName"`
	}
)

func sarifOf(report Report, version string) sarifLog {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: "purser", Version: version}}, ColumnKind: "unicodeCodePoints",
		Results: []sarifResult{},
	}
	index := map[string]int{}
	for i, rule := range Rules() {
		index[rule.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules,
			sarifRule{rule.ID, sarifText{rule.Short}, sarifText{rule.Help}})
	}
	for _, f := range report.Findings {
		run.Results = append(run.Results, sarifResultOf(f, index[f.Rule]))
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

func sarifResultOf(f Finding, rule int) sarifResult {
	text := sentence(f)
	if f.Advice != "" {
		text += ". To do: " + f.Advice
	}
	result := sarifResult{
		RuleID: f.Rule, RuleIndex: rule, Level: [...]string{"error", "warning", "note"}[f.Level], Message: sarifText{text},
		Fingerprints: map[string]string{"purser/v1": fingerprint(f)},
	}
	if f.File != "" {
		at := sarifLocation{Physical: physical(f.Place)}
		if name := subject(f); name != "" {
			at.Logical = []sarifLogicalLocation{{name}}
		}
		result.Locations = []sarifLocation{at}
	}
	for i, step := range f.Chain {
		result.Related = append(result.Related, sarifLocation{
			ID: i + 1, Physical: physical(step.Place), Message: &sarifText{step.Message},
		})
	}
	return result
}

func physical(p Place) sarifPhysical {
	at := sarifPhysical{Artifact: sarifArtifact{uri(p.File)}}
	if p.Line > 0 {
		at.Region = &sarifRegion{p.Line, p.Column}
	}
	return at
}

// fingerprint identifies a finding independently of its line.
func fingerprint(f Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, f.File, f.Document.String(), f.Path, f.Message}, "\x00")))
	return hex.EncodeToString(sum[:16])
}
