// Package chart has the tests of the Helm chart in deploy/helm and of the manifests in deploy/kubernetes:
//
//	go test -C tools/chart .           # lint, render, validate, compare
//	go test -C tools/chart . -record   # write deploy/kubernetes
//
// They use Helm and kubeconform as libraries: the command helm would take minutes to compile.
package chart
