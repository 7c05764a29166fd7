{{- define "purser.name" -}}
{{- if contains "purser" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-purser" (.Release.Name | trunc 45 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "purser.selector" -}}
app.kubernetes.io/name: purser
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "purser.labels" -}}
{{ include "purser.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* The Secrets that the server reads as files: the key, which is the name of the file, and the flag. */ -}}
{{- define "purser.files" -}}
{{- if eq .Values.flags.auth "tokens" }}
tokens: {file: tokens.yaml, flag: TOKENS_FILE}
{{- end }}
{{- if .Values.secrets.keyset.name }}
keyset: {file: keyset.json, flag: SECRETS_KEYSET}
{{- end }}
{{- if .Values.secrets.ui.name }}
ui: {file: ui.key, flag: UI_KEY_FILE}
{{- end }}
{{- end }}
