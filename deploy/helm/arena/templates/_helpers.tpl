{{/* Parts that several pods share. */}}

{{- define "arena.labels" -}}
{app.kubernetes.io/name: {{ . }}, app.kubernetes.io/part-of: arena}
{{- end }}

{{/* Pods are replaced when settings, models or secrets of the chart change. */}}
{{- define "arena.podAnnotations" -}}
{checksum/settings: {{ include (print .Template.BasePath "/settings.yaml") . | sha256sum }}}
{{- end }}

{{- define "arena.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - {name: {{ . }}}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "arena.container" -}}
{{- with .Values.image -}}
image: {{ required "Set image.repository, such as registry.example.org/arena." .repository }}:{{ .tag | default $.Chart.AppVersion }}
imagePullPolicy: {{ .pullPolicy }}
{{- end }}
securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
{{- end }}

{{- define "arena.environment" -}}
- configMapRef: {name: arena-settings}
- secretRef: {name: {{ .Values.secrets.site.name }}}
{{- end }}

{{- define "arena.waitForMigrations" -}}
- name: wait-for-migrations
  command: [sh, -ec, "until python -W ignore manage.py migrate --check >/dev/null 2>&1; do sleep 2; done"]
  {{- include "arena.container" . | nindent 2 }}
  envFrom:
    {{- include "arena.environment" . | nindent 4 }}
  resources: {requests: {cpu: 100m, memory: 256Mi}, limits: {memory: 1Gi}}
  volumeMounts:
    - {name: tmp, mountPath: /tmp}
{{- end }}

{{/* The file is touched with every heartbeat that Valkey accepted. */}}
{{- define "arena.heartbeatProbes" -}}
startupProbe:
  exec: {command: [sh, -c, "find /tmp/heartbeat -mmin -1 | grep -q ."]}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  exec: {command: [sh, -c, "find /tmp/heartbeat -mmin -1 | grep -q ."]}
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 12 # two minutes: restarting workers does not bring Valkey back
{{- end }}

{{- define "arena.volumeMounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: uploads, mountPath: /data/uploads}
- {name: models, mountPath: /etc/arena}
{{- end }}

{{- define "arena.volumes" -}}
- {name: tmp, emptyDir: {}}
{{- if .Values.settings.ARENA_S3_BUCKET }}
- {name: uploads, emptyDir: {}}
{{- else }}
- {name: uploads, persistentVolumeClaim: {claimName: {{ .Values.uploads.existingClaim | default "arena-uploads" }}}}
{{- end }}
- {name: models, configMap: {name: arena-models, optional: true}}
{{- end }}
