package media

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"math"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"

	types "github.com/coffer-budget/coffer/internal/media"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
)

const (
	// imagePixels is enough to read small print.
	imagePixels = 3_000_000
	// imageQuality is the quality of the JPEG, from 1 to 100.
	imageQuality = 80
	maxImage     = 2 << 20
)

// Images returns the first pages of a file as JPEGs, rotated as EXIF says, so that boxes of
// evidence fit them. They contain no other data of the file. A text file has no images.
func (o Opener) Images(ctx context.Context, file []byte) ([][]byte, error) {
	pages, err := o.pages(ctx, file, imagePixels)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, page := range pages {
		jpeg, err := encoded(page)
		if err != nil {
			return nil, err
		}
		out = append(out, jpeg)
	}
	return out, nil
}

// pages returns the decoded pages with at most the given number of pixels each: an image in color,
// a PDF in gray. A text file has none.
func (o Opener) pages(ctx context.Context, file []byte, pixels float64) ([]image.Image, error) {
	img, orientation, err := o.image(ctx, file)
	if err != nil {
		return nil, err
	}
	if img != nil {
		return []image.Image{oriented(fitted(img, pixels), orientation)}, nil
	}
	if types.TypeOf(file) != types.PDF {
		return nil, nil
	}
	info, err := o.info(ctx, file)
	if err != nil {
		return nil, err
	}
	rendered, err := o.rendered(ctx, file, info, pixels)
	var out []image.Image
	for _, img := range rendered {
		out = append(out, img)
	}
	return out, err
}

// encoded returns an image as a JPEG of at most maxImage bytes. It scales larger ones down, which
// only noise needs.
func encoded(img image.Image) ([]byte, error) {
	pixels := float64(imagePixels)
	for {
		out, err := jpegOf(img)
		if err != nil || len(out) <= maxImage {
			return out, err
		}
		pixels /= 2
		img = fitted(img, pixels)
	}
}

func jpegOf(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: imageQuality}); err != nil {
		return nil, fmt.Errorf("encoding an image: %w", err)
	}
	return b.Bytes(), nil
}

// fitted scales an image down to at most the given number of pixels. Transparent areas become
// white.
func fitted(img image.Image, pixels float64) image.Image {
	size := img.Bounds().Size()
	scale := min(1, math.Sqrt(pixels/float64(size.X*size.Y)))
	return imaging.Fit(img, max(1, int(float64(size.X)*scale)), max(1, int(float64(size.Y)*scale)))
}

// oriented undoes an EXIF orientation of a color image; upright does so for gray ones.
func oriented(img image.Image, orientation int) image.Image {
	w, h := float64(img.Bounds().Dx()), float64(img.Bounds().Dy())
	// The matrices map source to target coordinates.
	to := map[int]f64.Aff3{
		2: {-1, 0, w, 0, 1, 0},
		3: {-1, 0, w, 0, -1, h},
		4: {1, 0, 0, 0, -1, h},
		5: {0, 1, 0, 1, 0, 0},
		6: {0, -1, h, 1, 0, 0},
		7: {0, -1, h, -1, 0, w},
		8: {0, 1, 0, -1, 0, w},
	}
	aff3, turned := to[orientation]
	if !turned {
		return img
	}
	size := img.Bounds().Size()
	if orientation >= 5 {
		size.X, size.Y = size.Y, size.X
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	draw.NearestNeighbor.Transform(out, aff3, img, img.Bounds(), draw.Src, nil)
	return out
}
