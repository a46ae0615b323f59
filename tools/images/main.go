// Command images builds Coffer's container images without a container engine (ADR 13).
//
//	images OUT VERSION [SERVICE ...]
//
// An image contains a static program on an empty base. The image of ocr also contains the Debian
// packages of its recognition engine, and the neural engine. The images are reproducible: the same
// sources, Go toolchain and package versions yield the same digests, at any time and in any folder.
// So anyone can verify that a published image comes from these sources; make images-check builds
// twice and compares.
//
// The command writes these files:
//
//   - OUT/<service>.tar is an archive for this machine's architecture, for `ctr images import`,
//     `docker load` and `skopeo copy docker-archive:`.
//   - OUT/<service>-<architecture>.spdx.json is the bill of materials of an image.
//   - OUT/index is an OCI layout with an index of all architectures for each service, named
//     coffer/<service>:VERSION.
//   - OUT/release.yaml is a kustomize component that refers to the images by digest.
//
// Start reading with builder.all and builder.one. engine.go collects the Debian packages, layers.go
// packs files, bill.go writes the bill of materials and release.go the component.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// source is the repository's URL in the labels of the images.
const source = "https://github.com/coffer-budget/coffer"

// versionVariable is the variable of internal/app that holds the version.
const versionVariable = "github.com/coffer-budget/coffer/internal/app.version"

// epoch is the modification time of all files in an image, because the time of the build would
// change the digest.
var epoch = time.Unix(0, 0).UTC()

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: images OUT VERSION [SERVICE ...]")
		os.Exit(2)
	}
	wanted := os.Args[3:]
	if len(wanted) == 0 {
		wanted = services
	}
	b := builder{out: os.Args[1], version: os.Args[2]}
	if !validVersion.MatchString(b.version) {
		fmt.Fprintln(os.Stderr,
			"images: VERSION must be up to 40 lower-case letters, digits, - and ., and begin and "+
				"end with a letter or digit")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := b.all(ctx, wanted)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// builder builds the images of one version into the folder out. Its methods run in the root of the
// repository. Besides the results, out has the folders programs, with the compiled programs by
// architecture, and engine, with the downloaded packages.
type builder struct{ out, version string }

// all builds the images of the wanted services and writes the OCI layout and the release.
func (b builder) all(ctx context.Context, wanted []string) error {
	if err := os.RemoveAll(filepath.Join(b.out, "index")); err != nil {
		return err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	index, err := layout.Write(filepath.Join(b.out, "index"), empty.Index)
	if err != nil {
		return fmt.Errorf("creating the OCI layout: %w", err)
	}
	digests := map[string]v1.Hash{}
	for _, service := range wanted {
		images, err := b.one(ctx, service)
		if err != nil {
			return fmt.Errorf("building %s: %w", service, err)
		}
		title := map[string]string{
			"org.opencontainers.image.ref.name": "coffer/" + service + ":" + b.version,
		}
		if err := index.AppendIndex(images, layout.WithAnnotations(title)); err != nil {
			return fmt.Errorf("writing to the OCI layout: %w", err)
		}
		if digests[service], err = images.Digest(); err != nil {
			return err
		}
	}
	return b.writeRelease(digests)
}

// one builds a service's images for both architectures, with their bills of materials, and the
// archive for this machine's.
func (b builder) one(ctx context.Context, service string) (v1.ImageIndex, error) {
	index := v1.ImageIndex(empty.Index)
	for _, arch := range []string{"amd64", "arm64"} {
		program := filepath.Join(b.out, "programs", arch, service)
		for _, name := range programs(service) {
			path := filepath.Join(filepath.Dir(program), name)
			if err := b.compile(ctx, service, name, arch, path); err != nil {
				return nil, err
			}
		}
		image, packages, err := b.image(ctx, service, arch, program)
		if err != nil {
			return nil, fmt.Errorf("for %s: %w", arch, err)
		}
		index = list(index, image, arch)
		if err := b.bill(service, arch, program, image, packages); err != nil {
			return nil, err
		}
		if arch == runtime.GOARCH {
			if err := b.archive(service, image); err != nil {
				return nil, err
			}
		}
	}
	return index, nil
}

// list adds an image to the index of its service.
func list(index v1.ImageIndex, image v1.Image, arch string) v1.ImageIndex {
	platform := v1.Platform{OS: "linux", Architecture: arch}
	return mutate.AppendManifests(index,
		mutate.IndexAddendum{Add: listed{image}, Descriptor: v1.Descriptor{Platform: &platform}})
}

// listed is an image whose entry in an index has no artifactType. Otherwise mutate writes the media
// type of the configuration there, which skopeo copy --preserve-digests rejects.
type listed struct{ v1.Image }

func (listed) ArtifactType() (string, error) { return "", nil }

// programs returns the names of a service's programs. The service itself is the first.
func programs(service string) []string {
	if service == "ocr" {
		return []string{service, "ocr-neural"}
	}
	return []string{service}
}

// bill writes the bill of materials of an image.
func (b builder) bill(
	service, arch, program string, image v1.Image, packages []contained,
) error {
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	var paths []string
	for _, name := range programs(service) {
		paths = append(paths, filepath.Join(filepath.Dir(program), name))
	}
	path := filepath.Join(b.out, service+"-"+arch+".spdx.json")
	return writeBill(path, service, digest, paths, packages)
}

// archive writes the image for this machine's architecture, and prints its digest.
func (b builder) archive(service string, image v1.Image) error {
	tag, err := name.NewTag("coffer/"+service+":"+b.version, name.WithDefaultRegistry(""))
	if err != nil {
		return err
	}
	if err := tarball.WriteToFile(filepath.Join(b.out, service+".tar"), tag, image); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("coffer/%s:%s\t%s\n", service, b.version, digest)
	return nil
}

// image returns the image of a program, and the Debian packages in it.
func (b builder) image(
	ctx context.Context, service, arch, program string,
) (v1.Image, []contained, error) {
	base, packages := empty.Image, []contained(nil)
	if service == "ocr" {
		engine, found, err := engineLayer(ctx, filepath.Join(b.out, "engine", arch), arch,
			filepath.Join(filepath.Dir(program), "ocr-neural"))
		if err != nil {
			return nil, nil, fmt.Errorf("collecting the engine: %w", err)
		}
		if base, err = mutate.AppendLayers(base, engine); err != nil {
			return nil, nil, err
		}
		packages = found
	}
	layer, err := programLayer(program)
	if err != nil {
		return nil, nil, err
	}
	image, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, nil, err
	}
	image, err = mutate.ConfigFile(image, b.config(service, arch, file.DeepCopy()))
	return image, packages, err
}

// config completes the configuration of an image. file already lists the layers. The numeric user
// is the one in the Kubernetes manifests, and an empty base has no user database for a name. Port
// 9000 is the service's, and 9464 serves metrics.
func (b builder) config(service, arch string, file *v1.ConfigFile) *v1.ConfigFile {
	file.OS, file.Architecture, file.Created = "linux", arch, v1.Time{Time: epoch}
	file.Config = v1.Config{
		User:         "65532:65532",
		Entrypoint:   []string{"/app"},
		Env:          []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		ExposedPorts: map[string]struct{}{"9000/tcp": {}, "9464/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "coffer-" + service,
			"org.opencontainers.image.source":   source,
			"org.opencontainers.image.version":  b.version,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return file
}

// compile builds a program of a service from the service's module. Without the workspace, only the
// module's go.mod determines the versions of dependencies. The program is static, because the base
// is empty; only ocr-neural loads libraries of the Debian packages. The linker sets the version.
// -trimpath and the empty build id keep properties of the build machine out of the program, because
// images must be reproducible (ADR 13).
func (b builder) compile(ctx context.Context, service, name, arch, program string) error {
	dir := filepath.Join("services", service)
	if service == "gateway" {
		dir = service
	}
	path, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-C", dir, "-trimpath",
		"-ldflags=-s -w -buildid= -X "+versionVariable+"="+b.version, "-o", path, "./cmd/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS=linux", "GOARCH="+arch)
	return output(cmd)
}

// output runs a command. Its output is part of the error if the command fails, and is discarded
// otherwise.
func output(cmd *exec.Cmd) error {
	if text, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err),
			errors.New(string(text)))
	}
	return nil
}
