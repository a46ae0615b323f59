package main

import (
	"os"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// TestRelease compares the production overlay's placeholder with the file that a build writes.
// `make k8s-check` renders it.
func TestRelease(t *testing.T) {
	t.Parallel()
	digests := map[string]v1.Hash{}
	for _, service := range services {
		digests[service] = v1.Hash{Algorithm: "sha256", Hex: strings.Repeat("0", 64)}
	}
	want, err := releaseFile("0.0.0", digests)
	if err != nil {
		t.Fatal(err)
	}
	const folder = "../../deploy/k8s/overlays/production/release"
	placeholder, err := os.ReadFile(folder + "/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if string(placeholder) != want {
		t.Errorf("the placeholder differs from the file that a build writes:\n%s", want)
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
