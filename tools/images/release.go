package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// services lists all services in the order of the release file.
var services = []string{"auth", "ledger", "budget", "ocr", "gateway"}

// validVersion matches versions that are valid in an image's tag, a Kubernetes label and a Job's
// name.
var validVersion = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,38}[a-z0-9])?$`)

// release is a template for a kustomize component. It sets the images by digest, the version as a
// label, and the names of the migration Jobs.
var release = template.Must(template.New("release").Parse(releaseText))

const releaseText = `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
# The installed release. make images VERSION=1.2.3 writes this file as .cache/images/release.yaml,
# and the workflow release commits it.
# Version 0.0.0 is a placeholder: no image has the digest 000...
images:
{{- range .Services}}
  - {name: coffer/{{.Name}}, newName: ghcr.io/coffer-budget/{{.Name}}, newTag: "{{$.Version}}", ` +
	`digest: "{{.Digest}}"}
{{- end}}
patches:
  - target: {kind: Deployment, name: auth|ledger|budget|ocr|gateway}
    patch: |-
      - {op: add, path: {{.Label}}, value: "{{.Version}}"}
      - {op: add, path: /spec/template{{.Label}}, value: "{{.Version}}"}
{{- range .Services}}{{if ne .Name "gateway"}}
  - target: {kind: Job, name: migrate-{{.Name}}}
    options: {allowNameChange: true}
    patch: |-
      - {op: replace, path: /metadata/name, value: migrate-{{.Name}}-{{$.Suffix}}}
      - {op: add, path: {{$.Label}}, value: "{{$.Version}}"}
      - {op: add, path: /spec/template{{$.Label}}, value: "{{$.Version}}"}
{{- end}}{{end}}
`

// releaseFile returns the component for a version. digests maps every service to the digest of its
// image index. In the names of Jobs the dots of the version become hyphens, because it is a part of
// a DNS label there.
func releaseFile(version string, digests map[string]v1.Hash) (string, error) {
	type image struct {
		Name   string
		Digest v1.Hash
	}
	var images []image
	for _, service := range services {
		images = append(images, image{service, digests[service]})
	}
	var text strings.Builder
	err := release.Execute(&text, map[string]any{
		"Version": version, "Suffix": strings.ReplaceAll(version, ".", "-"), "Services": images,
		"Label": "/metadata/labels/app.kubernetes.io~1version",
	})
	return text.String(), err
}

// writeRelease writes OUT/release.yaml. If only some services were built, it deletes the file of an
// earlier build.
func (b builder) writeRelease(digests map[string]v1.Hash) error {
	path := filepath.Join(b.out, "release.yaml")
	if slices.ContainsFunc(services, func(s string) bool { return digests[s].Hex == "" }) {
		return os.RemoveAll(path)
	}
	text, err := releaseFile(b.version, digests)
	if err != nil {
		return fmt.Errorf("writing the release: %w", err)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
