package chart

import (
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/yannh/kubeconform/pkg/validator"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

var record = flag.Bool("record", false, "write deploy/kubernetes")

const (
	folder  = "../../deploy/helm"
	plain   = "../../deploy/kubernetes"
	flagged = "flags: {auth: oidc, oidc-issuer: 'https://id.example', oidc-audience: purser, tls-cert: /tls/tls.crt}\n"
)

// installations are values that people install the chart with.
var installations = map[string]string{
	"the defaults": "",
	"all that the chart makes itself": `
secrets:
  database: {name: db, content: 'postgres://purser@db/purser'}
  tokens: {name: tokens, content: 'tokens: []'}
  keyset: {name: keyset, content: '{}'}
  ui: {name: ui, content: '0123456789abcdef0123456789abcdef'}
policy: "admin_api: role:admin"
serviceMonitor: {enabled: true, labels: {release: prometheus}}`,
	"no files of Secrets": flagged + "secrets: {keyset: {name: ''}, ui: {name: ''}}",
	"everything else": flagged + `
image: {digest: 'sha256:` + strings.Repeat("0", 64) + `', pullSecrets: [{name: registry}]}
service: {type: LoadBalancer, port: 443, annotations: {a: b}}
extraEnv: [{name: VAULT_ADDR, value: 'https://vault.example'}]
extraVolumes: [{name: tls, secret: {secretName: tls, defaultMode: 256}}]
extraVolumeMounts: [{name: tls, mountPath: /tls}]
podAnnotations: {a: b}
podLabels: {a: b}
nodeSelector: {a: b}
tolerations: [{key: a, operator: Exists}]
affinity: {nodeAffinity: {}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
podDisruptionBudget: {maxUnavailable: 50%}
networkPolicy:
  clients: [{namespaceSelector: {}}]
  monitoring: [{ipBlock: {cidr: 10.0.0.0/8}}]
  egress: [{ports: [{port: 443, protocol: TCP}]}]`,
	"nothing optional": "podDisruptionBudget: {enabled: false}\nnetworkPolicy: {enabled: false}\nreplicas: 1",
}

// Helm has no complaint, not even a warning, and the API server would take every manifest.
func TestInstallations(t *testing.T) {
	t.Parallel()
	for name, text := range installations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := decode(t, text)
			for _, said := range lint.RunAll(folder, values, "site").Messages {
				if said.Severity >= support.WarningSev {
					t.Errorf("helm lint: %v", said)
				}
			}
			manifests, err := render(values)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range manifests {
				validate(t, name, text)
			}
		})
	}
}

// Wrong values are refused, with their name, before anything is installed.
func TestValues_refused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"replica: 3":                              "replica",
		"flags: {auth: password}":                 "/flags/auth",
		"flags: {listen: '127.0.0.1:9000'}":       "'listen'",
		"flags: {--log-level: debug}":             "'--log-level'",
		"secrets: {database: {name: ''}}":         "/secrets/database/name",
		"secrets: {token: {name: a}}":             "token",
		"image: {digest: latest}":                 "/image/digest",
		"terminationGracePeriodSeconds: 5":        "/terminationGracePeriodSeconds",
		"serviceMonitor: {interval: often}":       "/serviceMonitor/interval",
		"networkPolicy: {databasePort: postgres}": "/networkPolicy/databasePort",
	} {
		if _, err := render(decode(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error about %s", text, err, want)
		}
	}
}

// A restricted pod: what Kubernetes calls the Pod Security Standard "restricted", without an account of the cluster.
func TestDeployment_restricted(t *testing.T) {
	t.Parallel()
	manifests, err := render(nil)
	if err != nil {
		t.Fatal(err)
	}
	var deployment struct {
		Spec struct{ Template struct{ Spec map[string]any } }
	}
	if err := yaml.Unmarshal([]byte(manifests["deployment.yaml"]), &deployment); err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template.Spec
	server, _ := pod["containers"].([]any)[0].(map[string]any)
	got := map[string]any{
		"pod": pod["securityContext"], "server": server["securityContext"], "token": pod["automountServiceAccountToken"],
	}
	want := map[string]any{
		"pod": map[string]any{
			"runAsNonRoot": true, "runAsUser": 65532., "runAsGroup": 65532., "fsGroup": 65532.,
			"seccompProfile": map[string]any{"type": "RuntimeDefault"},
		},
		"server": map[string]any{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
			"capabilities": map[string]any{"drop": []any{"ALL"}},
		},
		"token": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A flag becomes the variable that the server reads, and a number keeps its digits.
func TestFlags(t *testing.T) {
	t.Parallel()
	manifests, err := render(decode(t, "flags: {auth: none, insecure-no-auth: true, max-documents: 1000000, memory: 2GiB}"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Data map[string]string }
	if err := yaml.Unmarshal([]byte(manifests["configmap.yaml"]), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"PURSER_LISTEN": "0.0.0.0:9000", "PURSER_METRICS_LISTEN": "0.0.0.0:9001", "PURSER_LOG_FORMAT": "json",
		"PURSER_AUTH": "none", "PURSER_INSECURE_NO_AUTH": "true", "PURSER_MAX_DOCUMENTS": "1000000", "PURSER_MEMORY": "2GiB",
		"PURSER_SECRETS_KEYSET": "/etc/purser/secrets/keyset.json", "PURSER_UI_KEY_FILE": "/etc/purser/secrets/ui.key",
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The plain manifests are what the chart makes with its defaults.
func TestManifests(t *testing.T) {
	t.Parallel()
	manifests, err := render(nil)
	if err != nil {
		t.Fatal(err)
	}
	const made = "# Made from deploy/helm: go test -C tools/chart . -record\n"
	want := map[string]string{}
	for name, text := range manifests {
		want[name] = made + strings.TrimLeft(text, "\n")
		if *record {
			if err := os.WriteFile(filepath.Join(plain, name), []byte(want[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	paths, err := filepath.Glob(filepath.Join(plain, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(path)] = string(text)
	}
	if diff := cmp.Diff(list(manifests), listed(t, got["kustomization.yaml"])); diff != "" {
		t.Errorf("kustomization.yaml lists other files (-want +got):\n%s", diff)
	}
	delete(got, "kustomization.yaml")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deploy/kubernetes is not what the chart makes (-want +got):\n%s", diff)
	}
}

func list(manifests map[string]string) []string { return slices.Sorted(maps.Keys(manifests)) }

// listed returns the resources of a kustomization, sorted.
func listed(t *testing.T, text string) []string {
	t.Helper()
	var kustomization struct{ Resources []string }
	if err := yaml.Unmarshal([]byte(text), &kustomization); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(slices.Values(kustomization.Resources))
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// render returns the manifests that helm template makes of the release purser, without those that are empty.
func render(values map[string]any) (map[string]string, error) {
	chart, err := loader.LoadDir(folder)
	if err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: "purser", Namespace: "default", IsInstall: true, Revision: 1}
	all, err := util.ToRenderValues(chart, values, options, common.DefaultCapabilities.Copy())
	if err != nil {
		return nil, err
	}
	made, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	manifests := map[string]string{}
	for path, text := range made {
		if name := filepath.Base(path); strings.HasSuffix(name, ".yaml") && strings.TrimSpace(text) != "" {
			manifests[name] = text
		}
	}
	return manifests, nil
}

// validate checks manifests as kubeconform -strict does. Kubernetes has no schema of ServiceMonitors: the type of their
// operator decodes them.
func validate(t *testing.T, name, text string) {
	t.Helper()
	if name == "servicemonitor.yaml" {
		if err := yaml.UnmarshalStrict([]byte(text), new(monitoring.ServiceMonitor)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	v, err := validator.New([]string{"schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json"},
		validator.Opts{Strict: true, KubernetesVersion: "1.30.0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range v.Validate(name, io.NopCloser(strings.NewReader(text))) {
		if result.Status != validator.Valid && result.Status != validator.Empty {
			t.Errorf("%s: %v\n%s", name, result.Err, text)
		}
	}
}

// The schemas find what they are for: a member with a typing error, a missing one, a value of another type.
func TestValidator(t *testing.T) {
	t.Parallel()
	v, err := validator.New([]string{"schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json"}, validator.Opts{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	const head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
	for spec, want := range map[string]validator.Status{
		"{selector: {}, template: {spec: {containers: [{name: a}]}}}":                validator.Valid,
		"{selector: {}, template: {spec: {containers: [{name: a, imge: b}]}}}":       validator.Invalid,
		"{selector: {}, template: {spec: {containers: [{image: b}]}}}":               validator.Invalid,
		"{selector: {}, replicas: two, template: {spec: {containers: [{name: a}]}}}": validator.Invalid,
	} {
		for _, result := range v.Validate("a.yaml", io.NopCloser(strings.NewReader(head+"spec: "+spec))) {
			if result.Status != want {
				t.Errorf("%s: status %d, want %d: %v", spec, result.Status, want, result.Err)
			}
		}
	}
}
