package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// document is an SPDX 2.3 document with the fields that a list of packages needs.
// Scanners read it to find known vulnerabilities.
type document struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

// creation states when and by which tool the document was created. The time is the epoch of the
// images, for reproducible documents.
type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

// spdxPackage is a Go module, a Debian package or an npm package. Its package URL is one of
// Refs. License is an SPDX expression.
type spdxPackage struct {
	ID       string     `json:"SPDXID"`
	Name     string     `json:"name"`
	Version  string     `json:"versionInfo"`
	Location string     `json:"downloadLocation"`
	License  string     `json:"licenseDeclared,omitempty"`
	Refs     []external `json:"externalRefs"`
}

// external is a reference to a package in another catalog. add uses it for the package URL.
type external struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

// relationship connects two elements by their SPDXID.
type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// writeBill writes the bill of materials of an image: the Go modules linked into the programs, and
// the packages. The modules come from the build information in the programs, so the bill lists
// exactly the linked versions. digest is the digest of the image, which makes the namespace of the
// document unique.
func writeBill(
	path, service string, digest v1.Hash, programs []string, packages []contained,
) error {
	bill := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "coffer/" + service,
		Namespace: source + "/spdx/" + service + "@" + digest.String(),
		Creation: creation{
			Created: "1970-01-01T00:00:00Z", Creators: []string{"Tool: coffer-images"},
		},
	}
	modules := map[string]bool{}
	module := func(path, version string) {
		if !modules[path] {
			modules[path] = true
			bill.add(contained{kind: "golang", name: path, version: version})
		}
	}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return fmt.Errorf("reading the build information of the program: %w", err)
		}
		module("stdlib", strings.TrimPrefix(info.GoVersion, "go"))
		for _, m := range info.Deps {
			module(m.Path, m.Version)
		}
	}
	for _, p := range packages {
		bill.add(p)
	}
	text, err := json.MarshalIndent(bill, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the bill of materials: %w", err)
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// add adds a package with its package URL (purl), in which the @ of an npm scope is encoded.
func (d *document) add(p contained) {
	id := fmt.Sprintf("SPDXRef-%d", len(d.Packages)+1)
	url := "pkg:" + p.kind + "/" + strings.Replace(p.name, "@", "%40", 1) + "@" + p.version
	d.Packages = append(d.Packages, spdxPackage{
		ID: id, Name: p.name, Version: p.version, Location: "NOASSERTION", License: p.license,
		Refs: []external{{"PACKAGE-MANAGER", "purl", url}},
	})
	d.Relationships = append(d.Relationships, relationship{"SPDXRef-DOCUMENT", "DESCRIBES", id})
}
