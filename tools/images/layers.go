package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// programLayer returns a layer with only the program and an empty /tmp. Without a shell and a
// package manager, an attacker who can execute code in the process finds no tools.
func programLayer(program string) (v1.Layer, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	return layer(func(w *tar.Writer) error {
		if err := w.WriteHeader(&tar.Header{
			Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777, ModTime: epoch,
		}); err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{
			Name: "app", Mode: 0o755, Size: int64(len(content)), ModTime: epoch,
		}); err != nil {
			return err
		}
		_, err := w.Write(content)
		return err
	})
}

// treeLayer returns a layer with the files below root, sorted by name, owned by root and without
// set-uid bits. The order of the files must not depend on the file system, because the digest does.
func treeLayer(root string) (v1.Layer, error) {
	return layer(func(w *tar.Writer) error {
		return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || path == root {
				return err
			}
			return addFile(w, root, path, entry)
		})
	})
}

// addFile writes a file, folder or link to a layer. The header contains no names and times of this
// machine, and its mode keeps only the permissions and the sticky bit.
func addFile(w *tar.Writer, root, path string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err = os.Readlink(path); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	inside, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	clean := &tar.Header{
		Typeflag: header.Typeflag, Name: filepath.ToSlash(inside), Linkname: target,
		Size: header.Size, Mode: header.Mode & 0o1777, ModTime: epoch,
	}
	if info.IsDir() {
		clean.Name += "/"
	}
	if err := w.WriteHeader(clean); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}

// layer returns a layer with the files that write adds. The archive stays in memory, because
// go-containerregistry reads a layer several times: for its digests and for each output.
func layer(write func(*tar.Writer) error) (v1.Layer, error) {
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	if err := write(w); err != nil {
		return nil, fmt.Errorf("packing a layer: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing a layer: %w", err)
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content.Bytes())), nil
	})
}
