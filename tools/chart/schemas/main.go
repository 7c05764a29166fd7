// Command schemas writes the JSON Schemas with which the chart's manifests are checked, from the OpenAPI documents of
// Kubernetes 1.30 that kubectl-validate brings:
//
//	module=$(go mod download -json sigs.k8s.io/kubectl-validate@v0.0.4 | jq -r .Dir)
//	go run ./schemas $module/pkg/openapiclient/builtins/1.30
//
// They are strict, as kubeconform's own: an object has no other members than its schema names.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// kinds has the OpenAPI document of each kind, and the name of its definition there.
var kinds = map[string][2]string{ //nolint:gochecknoglobals // a table
	"configmap-v1":                  {"api/v1", "io.k8s.api.core.v1.ConfigMap"},
	"secret-v1":                     {"api/v1", "io.k8s.api.core.v1.Secret"},
	"service-v1":                    {"api/v1", "io.k8s.api.core.v1.Service"},
	"deployment-apps-v1":            {"apis/apps/v1", "io.k8s.api.apps.v1.Deployment"},
	"networkpolicy-networking-v1":   {"apis/networking.k8s.io/v1", "io.k8s.api.networking.v1.NetworkPolicy"},
	"poddisruptionbudget-policy-v1": {"apis/policy/v1", "io.k8s.api.policy.v1.PodDisruptionBudget"},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "schemas: name the folder of the OpenAPI documents")
		os.Exit(2)
	}
	for name, kind := range kinds {
		from, to := filepath.Join(os.Args[1], kind[0]+".json"), filepath.Join("schemas", name+".json")
		if err := write(from, kind[1], to); err != nil {
			fmt.Fprintf(os.Stderr, "schemas: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// write writes the schema of a definition, with all that it refers to.
func write(from, kind, to string) error {
	text, err := os.ReadFile(from) //nolint:gosec // the caller names it
	if err != nil {
		return err //nolint:wrapcheck // it names the file
	}
	var document struct {
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("decode %s: %w", from, err)
	}
	definitions := map[string]any{}
	collect(document.Components.Schemas, definitions, kind)
	text, err = json.Marshal(map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/" + kind, "definitions": definitions,
	})
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return os.WriteFile(to, append(text, '\n'), 0o644) //nolint:wrapcheck,gosec // it names the file
}

// collect adds a definition and all that it refers to.
func collect(all, to map[string]any, name string) {
	if _, known := to[name]; known {
		return
	}
	to[name] = nil // a definition may refer to itself
	to[name] = strict(all[name], func(ref string) { collect(all, to, ref) })
}

// strict returns a schema without what does not assert anything, whose objects have no other members than it names.
func strict(schema any, refer func(string)) any {
	switch s := schema.(type) {
	case []any:
		list := make([]any, len(s))
		for i, item := range s {
			list[i] = strict(item, refer)
		}
		return list
	case map[string]any:
		made := map[string]any{}
		for key, value := range s {
			switch properties, ok := value.(map[string]any); {
			case key == "properties" && ok:
				made[key], made["additionalProperties"] = each(properties, refer), false
			case key == "$ref":
				name := strings.TrimPrefix(fmt.Sprint(value), "#/components/schemas/")
				refer(name)
				made[key] = "#/definitions/" + name
			case key != "description" && key != "default" && key != "format" && !strings.HasPrefix(key, "x-kubernetes-"):
				made[key] = strict(value, refer)
			}
		}
		return made
	}
	return schema
}

// each returns the strict schemas of properties, which may be called like keywords.
func each(properties map[string]any, refer func(string)) map[string]any {
	made := map[string]any{}
	for name, property := range properties {
		made[name] = strict(property, refer)
	}
	return made
}
