// Command images builds Coffer's container images without a container engine: static programs on an empty base, ocr on
// the Debian packages of its recognition engine. What comes out depends on the sources alone, not on time or place.
//
//	images OUT VERSION [SERVICE ...]
//
// writes OUT/<service>.tar, which `ctr images import`, `docker load` and `skopeo copy docker-archive:` read, and beside it
// OUT/<service>.spdx.json, the bill of materials. OUT/index, an OCI layout, holds the images of all architectures.
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

// source is where the images' labels point.
const source = "https://github.com/coffer-budget/coffer"

// epoch is when everything in an image was made.
var epoch = time.Unix(0, 0).UTC()

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: images OUT VERSION [SERVICE ...]")
		os.Exit(2)
	}
	services := os.Args[3:]
	if len(services) == 0 {
		services = []string{"auth", "ledger", "budget", "ocr", "gateway"}
	}
	b := builder{out: os.Args[1], version: os.Args[2]}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := b.all(ctx, services)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

type builder struct{ out, version string }

func (b builder) all(ctx context.Context, services []string) error {
	if err := os.RemoveAll(filepath.Join(b.out, "index")); err != nil {
		return err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	index, err := layout.Write(filepath.Join(b.out, "index"), empty.Index)
	if err != nil {
		return fmt.Errorf("making the OCI layout: %w", err)
	}
	for _, service := range services {
		if err := b.one(ctx, index, service); err != nil {
			return fmt.Errorf("building %s: %w", service, err)
		}
	}
	return nil
}

// one builds a service's images for both architectures. Ubuntu's archive does not have ocr's packages for the other one.
func (b builder) one(ctx context.Context, index layout.Path, service string) error {
	for _, arch := range []string{"amd64", "arm64"} {
		program := filepath.Join(b.out, "programs", arch, service)
		if err := compile(ctx, service, arch, program); err != nil {
			return err
		}
		image, packages, err := b.image(ctx, service, arch, program)
		if err != nil && service == "ocr" && arch != runtime.GOARCH {
			fmt.Fprintf(os.Stderr, "coffer/ocr is not built for %s: %v\n", arch, err)
			continue
		}
		if err != nil {
			return err
		}
		platform := v1.Platform{OS: "linux", Architecture: arch}
		title := map[string]string{"org.opencontainers.image.ref.name": "coffer/" + service + ":" + b.version}
		if err := index.AppendImage(image, layout.WithPlatform(platform), layout.WithAnnotations(title)); err != nil {
			return fmt.Errorf("writing to the OCI layout: %w", err)
		}
		if arch == runtime.GOARCH {
			if err := b.archive(service, program, image, packages); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b builder) archive(service, program string, image v1.Image, packages []deb) error {
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
	return writeBill(filepath.Join(b.out, service+".spdx.json"), service, digest, program, packages)
}

// image puts a program on its base.
func (b builder) image(ctx context.Context, service, arch, program string) (v1.Image, []deb, error) {
	base, packages := empty.Image, []deb(nil)
	if service == "ocr" {
		engine, found, err := engineLayer(ctx, filepath.Join(b.out, "engine", arch), arch)
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

// config describes the image whose layers file lists already.
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

// compile builds a service from its own module, without what is around it.
func compile(ctx context.Context, service, arch, program string) error {
	dir := filepath.Join("services", service)
	if service == "gateway" {
		dir = service
	}
	path, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-C", dir, "-trimpath", "-ldflags=-s -w -buildid=", "-o", path, "./cmd/"+service)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS=linux", "GOARCH="+arch)
	return output(cmd)
}

// output runs a command, and tells what it said only when it failed.
func output(cmd *exec.Cmd) error {
	if said, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err), errors.New(string(said)))
	}
	return nil
}
