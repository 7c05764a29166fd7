package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// seed makes all runs use the same site.
const seed = 20260101

// kind is a kind of document: its DataSchema and a function that writes one.
type kind struct {
	label  string
	name   string
	schema string
	write  func(b *strings.Builder, r *rand.Rand, i, version int)
}

// site is the documents of one bucket as text.
type site struct {
	kind
	documents []string
}

func newSite(k kind, n int) *site {
	s := &site{kind: k, documents: make([]string, n)}
	for i := range s.documents {
		s.change(i, 0)
	}
	return s
}

// change replaces document i. Versions of a document differ in one value.
func (s *site) change(i, version int) {
	var b strings.Builder
	s.write(&b, rand.New(rand.NewPCG(seed, uint64(i))), i, version) //nolint:gosec // made up, and the same every time
	s.documents[i] = b.String()
}

// database returns a name for the database of a site.
func (k kind) database() string { return strings.ToLower(strings.ReplaceAll(k.name, "/", "_")) }

func (s *site) body() []byte { return []byte(strings.Join(s.documents, "")) }

// siteOfSize returns a site of as many documents as fit into size bytes.
func siteOfSize(k kind, size int) []byte {
	// The sizes of documents differ by only a few percent.
	var body strings.Builder
	for _, doc := range newSite(k, size/1500).documents {
		if body.Len()+len(doc) > size {
			break
		}
		body.WriteString(doc)
	}
	return []byte(body.String())
}

// small is a document of about 0.4 KB.
func small() kind {
	return kind{label: "0.4 KB", name: "bench/Endpoint/v1", schema: endpointSchema, write: writeEndpoint}
}

// large is a document of about 2 KB, most of it settings, as in the charts of real sites.
func large() kind {
	return kind{label: "2 KB", name: "bench/Chart/v1", schema: chartSchema, write: writeChart}
}

var (
	services = []string{"keystone", "glance", "nova", "neutron", "cinder", "heat", "horizon", "barbican", "ceph", "etcd"}
	parts    = []string{"api", "worker", "scheduler", "conductor", "registry", "agent", "proxy"}
	regions  = []string{"west", "east", "north", "south"}
	words    = []string{
		"timeout", "retries", "endpoint", "catalog", "token", "driver", "backend", "policy", "cache", "queue",
		"replica", "quota", "notify", "audit", "filter", "limit", "weight", "domain", "project", "tenant", "volume",
	}
)

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

const endpointSchema = `---
schema: deckhand/DataSchema/v1
metadata:
  schema: metadata/Control/v1
  name: bench/Endpoint/v1
data:
  $schema: http://json-schema.org/schema#
  type: object
  properties:
    host: {type: string, pattern: '^[a-z0-9.-]+$', maxLength: 253}
    port: {type: integer, minimum: 1, maximum: 65535}
    scheme: {type: string, enum: [http, https, tcp]}
    release: {type: string, pattern: '^\d+\.\d+\.\d+$'}
    paths:
      type: array
      minItems: 1
      items: {type: string, pattern: '^/'}
    notes: {type: string}
  required: [host, port, scheme, release]
  additionalProperties: false
`

func writeHead(b *strings.Builder, kind, name, component string) {
	fmt.Fprintf(b, `---
schema: %s
metadata:
  schema: metadata/Document/v1
  name: %s
  layeringDefinition:
    abstract: false
    layer: site
  labels:
    component: %s
  storagePolicy: cleartext
data:
`, kind, name, component)
}

func writeEndpoint(b *strings.Builder, r *rand.Rand, i, version int) {
	service, part, region := pick(r, services), pick(r, parts), pick(r, regions)
	writeHead(b, "bench/Endpoint/v1", fmt.Sprintf("%s-%s-%05d", service, part, i), service)
	fmt.Fprintf(b, `  host: %s-%05d.%s.example.com
  port: %d
  scheme: %s
  release: 1.0.%d
  paths:
    - /v%d
    - /healthcheck
  notes: |
    Behind the proxy in the %s.
    Ask the team of %s.
`, service, i, region, 1024+r.IntN(60000), pick(r, []string{"http", "https"}), version, 1+r.IntN(3), region, service)
}

const chartSchema = `---
schema: deckhand/DataSchema/v1
metadata:
  schema: metadata/Control/v1
  name: bench/Chart/v1
data:
  $schema: http://json-schema.org/schema#
  definitions:
    labels:
      type: object
      additionalProperties: {type: string}
    hook:
      type: array
      items:
        type: object
        properties:
          type: {type: string, enum: [job, pod, cronjob]}
          labels: {$ref: '#/definitions/labels'}
        required: [type]
        additionalProperties: false
    amounts:
      type: object
      properties:
        memory: {type: string, pattern: '^\d+(Mi|Gi)$'}
        cpu: {type: string, pattern: '^\d+m$'}
      additionalProperties: false
  type: object
  properties:
    chart_name: {type: string, pattern: '^[a-z0-9-]+$'}
    release: {type: string, maxLength: 63}
    namespace: {type: string, enum: [openstack, ceph, kube-system]}
    wait:
      type: object
      properties:
        timeout: {type: integer, minimum: 0}
        labels: {$ref: '#/definitions/labels'}
      additionalProperties: false
    upgrade:
      type: object
      properties:
        no_hooks: {type: boolean}
        pre:
          type: object
          properties:
            delete: {$ref: '#/definitions/hook'}
          additionalProperties: false
      required: [no_hooks]
    values:
      type: object
      properties:
        images:
          type: object
          properties:
            tags:
              type: object
              additionalProperties: {type: string, pattern: '^[a-z0-9./-]+:[a-z0-9.-]+$'}
        pod:
          type: object
          properties:
            replicas:
              type: object
              additionalProperties: {type: integer, minimum: 1, maximum: 99}
            resources:
              type: object
              properties:
                requests: {$ref: '#/definitions/amounts'}
                limits: {$ref: '#/definitions/amounts'}
        endpoints:
          type: array
          items:
            type: object
            properties:
              name: {type: string}
              host: {type: string}
              port: {type: integer, minimum: 1, maximum: 65535}
            required: [name, port]
        conf:
          type: object
    source:
      type: object
      properties:
        type: {type: string, enum: [git, tar, local]}
        location: {type: string, pattern: '^https?://'}
        subpath: {type: string}
        reference: {type: string}
      required: [type, location]
    dependencies:
      type: array
      items: {type: string}
      uniqueItems: true
  required: [chart_name, release, namespace, values, source, dependencies]
  additionalProperties: false
`

func writeChart(b *strings.Builder, r *rand.Rand, i, version int) {
	service, part := pick(r, services), pick(r, parts)
	writeHead(b, "bench/Chart/v1", fmt.Sprintf("%s-%s-%05d", service, part, i), service)
	writeRelease(b, r, service, part, i)
	writeValues(b, r, service, version)
	writeSource(b, r, service)
}

func writeRelease(b *strings.Builder, r *rand.Rand, service, part string, i int) {
	fmt.Fprintf(b, `  chart_name: %[1]s-%[3]d
  release: %[1]s-%[2]s
  namespace: %[4]s
  wait:
    timeout: %[5]d
    labels:
      release_group: clcp-%[1]s
  upgrade:
    no_hooks: false
    pre:
      delete:
        - type: job
          labels:
            application: %[1]s
            component: db-sync
        - type: pod
          labels:
            application: %[1]s
  values:
`, service, part, i, pick(r, []string{"openstack", "ceph", "kube-system"}), 300*(1+r.IntN(6)))
}

func writeSource(b *strings.Builder, r *rand.Rand, service string) {
	fmt.Fprintf(b, `  source:
    type: git
    location: https://git.example.com/charts/%[1]s
    subpath: %[1]s
    reference: %016[2]x%016[3]x
  dependencies:
    - helm-toolkit
    - %[1]s-infra
`, service, r.Uint64(), r.Uint64())
}

func writeValues(b *strings.Builder, r *rand.Rand, service string, version int) {
	fmt.Fprintf(b, `    images:
      tags:
        %[1]s: quay.example.com/%[1]s/%[1]s:1.0.%[2]d
        db_sync: quay.example.com/%[1]s/db-sync:3.%[3]d
    pod:
      replicas:
        api: %[4]d
        worker: %[5]d
      resources:
        requests:
          memory: %[6]dMi
          cpu: %[7]dm
        limits:
          memory: %[8]dGi
          cpu: 2000m
    endpoints:
`, service, version, r.IntN(40), 1+r.IntN(5), 1+r.IntN(9), 128+r.IntN(512), 100*(1+r.IntN(9)), 1+r.IntN(8))
	for _, part := range parts[:2+r.IntN(2)] {
		fmt.Fprintf(b, "      - name: %[1]s\n        host: %[2]s-%[1]s.example.com\n        port: %[3]d\n",
			part, service, 1024+r.IntN(60000))
	}
	b.WriteString("    conf:\n      paste: |\n")
	for range 7 {
		fmt.Fprintf(b, "        %s_%s = %s:%d\n", pick(r, words), pick(r, words), pick(r, words), r.IntN(10000))
	}
	for _, section := range []string{"default", "database"} {
		fmt.Fprintf(b, "      %s:\n", section)
		for j := range 4 {
			fmt.Fprintf(b, "        %s_%s_%d: %d\n", pick(r, words), pick(r, words), j, r.IntN(100000))
		}
		fmt.Fprintf(b, "        debug: %t\n        url: %q\n", r.IntN(2) == 0, "rabbit://"+pick(r, words)+":5672/")
	}
}
