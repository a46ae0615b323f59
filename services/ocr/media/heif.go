package media

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
)

// heif decodes a HEIF file by converting it to a JPEG with libheif's program, which also rotates it
// as the file says. The program needs named files, which a worker has in memory. It returns
// ErrUnreadable for a file that the program rejects.
func (o Opener) heif(ctx context.Context, file []byte) (image.Image, error) {
	dir, err := os.MkdirTemp("", "heif")
	if err != nil {
		return nil, fmt.Errorf("creating a folder for libheif: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	in := filepath.Join(dir, "in.heic")
	if err := os.WriteFile(in, file, 0o600); err != nil {
		return nil, fmt.Errorf("writing a HEIF for libheif: %w", err)
	}
	out := filepath.Join(dir, "out.jpg")
	if _, err := o.run(ctx, nil, "heif-convert", "-q", "92", in, out); err != nil {
		return nil, err
	}
	// If the file has several images, the first is called out-1.jpg.
	written, err := filepath.Glob(filepath.Join(dir, "out*.jpg"))
	if err != nil || len(written) == 0 {
		return nil, fmt.Errorf("%w: HEIF without an image", ErrUnreadable)
	}
	converted, err := os.ReadFile(written[0])
	if err != nil {
		return nil, fmt.Errorf("reading the result of libheif: %w", err)
	}
	f := formatOf(converted)
	if f == nil {
		return nil, errors.New("heif-convert wrote no JPEG")
	}
	return f.open(converted)
}
