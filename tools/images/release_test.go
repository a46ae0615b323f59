package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
)

var releasedImage = regexp.MustCompile(
	`\{name: coffer/(\w+), .* newTag: "(.*)", digest: "sha256:([0-9a-f]{64})"\}`)

// TestRelease compares the production overlay's file, of the last release or the placeholder, with
// the file that a build writes for this version and these digests. `make k8s-check` renders it.
func TestRelease(t *testing.T) {
	t.Parallel()
	const folder = "../../deploy/k8s/overlays/production/release"
	released, err := os.ReadFile(folder + "/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	version := ""
	digests := map[string]v1.Hash{}
	for _, image := range releasedImage.FindAllStringSubmatch(string(released), -1) {
		version = image[2]
		digests[image[1]] = v1.Hash{Algorithm: "sha256", Hex: image[3]}
	}
	want, err := releaseFile(version, digests)
	if err != nil {
		t.Fatal(err)
	}
	if string(released) != want {
		t.Errorf("the overlay's file differs from the file that a build writes:\n%s", want)
	}
}

// TestList checks that skopeo can copy an index without a change of its digest.
func TestList(t *testing.T) {
	t.Parallel()
	index, err := list(empty.Index, empty.Image, "arm64").RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(index), `"architecture":"arm64"`) ||
		strings.Contains(string(index), "artifactType") {
		t.Errorf("the index is %s", index)
	}
}

func TestValidVersion(t *testing.T) {
	t.Parallel()
	for version, valid := range map[string]bool{
		"1.2.3": true, "dev": true, "1.2.3-rc.1": true, strings.Repeat("a", 40): true,
		"": false, "V1": false, "1.2.3+meta": false, "-1": false, "1.": false,
		strings.Repeat("a", 41): false,
	} {
		if validVersion.MatchString(version) != valid {
			t.Errorf("%q: want %t", version, valid)
		}
	}
}
