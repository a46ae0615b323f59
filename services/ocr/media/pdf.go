package media

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"math"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

const (
	// maxPages is the number of pages that are read. The rest of a longer file is skipped, which
	// Document.Pages counts.
	maxPages = 5
	// pdfDPI renders a capital letter of 9 points about 26 pixels high.
	pdfDPI = 300
	// minLayerWords is the size of a text layer. Fewer words are a stamp on a scan.
	minLayerWords = 8
)

var (
	// pagesLine and sizeLine match lines that pdfinfo prints.
	pagesLine = regexp.MustCompile(`(?m)^Pages:\s+(\d+)`)
	sizeLine  = regexp.MustCompile(`(?m)^Page\s+(?:\d+ )?size:\s+([\d.e+]+) x ([\d.e+]+) pts`)
)

// pdf decodes a PDF with poppler-utils. These programs execute no scripts and open no connections.
// A text layer is preferred to images of the pages. Damage of the text layer or of a later page
// does not fail the file.
func (o Opener) pdf(ctx context.Context, file []byte) (Document, error) {
	info, err := o.info(ctx, file)
	if err != nil {
		return Document{}, err
	}
	layer, err := o.run(ctx, file, "pdftotext", "-bbox", "-l", strconv.Itoa(maxPages), "-", "-")
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return Document{}, err
	}
	if text := layerPages(layer); words(text) >= minLayerWords {
		read := min(info.pages, maxPages)
		return Document{Text: text, Read: read, Pages: info.pages}, nil
	}
	images, err := o.rendered(ctx, file, info, pagePixels)
	return Document{Images: images, Read: len(images), Pages: info.pages}, err
}

// rendered returns the first pages as images of at most the given number of pixels. All pages have
// one resolution, so it leaves out pages whose size would make the first one illegible. If a page
// cannot be rendered, it returns the first page alone.
func (o Opener) rendered(
	ctx context.Context, file []byte, info pdfInfo, pixels float64,
) ([]*image.Gray, error) {
	pages, first := min(info.pages, maxPages), info.dpi(pixels, 1)
	for pages > 1 && info.dpi(pixels, pages) < first/2 {
		pages--
	}
	images, err := o.render(ctx, file, info.dpi(pixels, pages), pages)
	if errors.Is(err, ErrUnreadable) && pages > 1 {
		return o.render(ctx, file, first, 1)
	}
	return images, err
}

type pdfInfo struct {
	pages int
	// sizes are width and height in points.
	sizes [][2]float64
}

// info runs pdfinfo. A locked or damaged PDF is ErrUnreadable.
func (o Opener) info(ctx context.Context, file []byte) (pdfInfo, error) {
	out, err := o.run(ctx, file, "pdfinfo", "-l", strconv.Itoa(maxPages), "-")
	if err != nil {
		return pdfInfo{}, err
	}
	var info pdfInfo
	if m := pagesLine.FindSubmatch(out); m != nil {
		info.pages, _ = strconv.Atoi(string(m[1]))
	}
	if info.pages < 1 {
		return pdfInfo{}, fmt.Errorf("%w: PDF without pages", ErrUnreadable)
	}
	for _, m := range sizeLine.FindAllSubmatch(out, -1) {
		// An invalid number becomes infinity or zero, which dpi handles.
		w, _ := strconv.ParseFloat(string(m[1]), 64)
		h, _ := strconv.ParseFloat(string(m[2]), 64)
		info.sizes = append(info.sizes, [2]float64{w, h})
	}
	return info, nil
}

// dpi returns the resolution at which none of the first pages has more than the given number of
// pixels, or 0 for a page without size.
func (i pdfInfo) dpi(pixels float64, pages int) int {
	dpi := pdfDPI
	for _, s := range i.sizes[:min(len(i.sizes), pages)] {
		if s[0] <= 0 || s[1] <= 0 {
			return 0
		}
		// An inch has 72 points. The number of pixels grows with the square of the resolution.
		dpi = min(dpi, int(72*math.Sqrt(pixels/(s[0]*s[1]))), int(72*MaxEdge/max(s[0], s[1])))
	}
	return dpi
}

func (o Opener) render(ctx context.Context, file []byte, dpi, pages int) ([]*image.Gray, error) {
	// At 20 dpi, a capital letter of 9 points is less than two pixels high.
	if dpi < 20 {
		return nil, fmt.Errorf("%w: PDF pages of an enormous size", ErrUnreadable)
	}
	out, err := o.run(ctx, file,
		"pdftoppm", "-gray", "-r", strconv.Itoa(dpi), "-l", strconv.Itoa(pages), "-")
	if err != nil {
		return nil, err
	}
	return graymaps(out)
}

type layerDoc struct {
	Pages []struct {
		Width  float64 `xml:"width,attr"`
		Height float64 `xml:"height,attr"`
		Words  []struct {
			XMin float64 `xml:"xMin,attr"`
			YMin float64 `xml:"yMin,attr"`
			XMax float64 `xml:"xMax,attr"`
			YMax float64 `xml:"yMax,attr"`
			Text string  `xml:",chardata"`
		} `xml:"word"`
	} `xml:"body>doc>page"`
}

// layerPages parses pdftotext's XHTML. It returns nil for output that is no XML.
func layerPages(layer []byte) []printed.Page {
	// The words come from an untrusted file. Invalid UTF-8, faulty markup and the entities of HTML
	// must not lose the page.
	decoder := xml.NewDecoder(bytes.NewReader(bytes.ToValidUTF8(layer, nil)))
	decoder.Strict = false
	decoder.Entity = xml.HTMLEntity
	var doc layerDoc
	if err := decoder.Decode(&doc); err != nil {
		return nil
	}
	// Boxes are in points. They are scaled to the pixels of a rendered page.
	const scale = pdfDPI / 72.0
	var pages []printed.Page
	for _, p := range doc.Pages {
		page := printed.Page{Exact: true}
		page.Width, page.Height = int(p.Width*scale), int(p.Height*scale)
		for _, w := range p.Words {
			box := printed.Box{
				X: int(w.XMin * scale), W: int((w.XMax - w.XMin) * scale),
				Y: int(w.YMin * scale), H: int((w.YMax - w.YMin) * scale),
			}
			if text := norm.NFC.String(strings.TrimSpace(w.Text)); text != "" {
				word := printed.Word{Text: text, Confidence: 1, Box: box}
				page.Words = append(page.Words, word)
			}
		}
		pages = append(pages, page)
	}
	return pages
}

func words(pages []printed.Page) int {
	n := 0
	for _, p := range pages {
		n += len(p.Words)
	}
	return n
}

// graymaps parses pdftoppm's output, a sequence of binary PGM images. The images share the memory
// of the output.
func graymaps(data []byte) ([]*image.Gray, error) {
	var out []*image.Gray
	for len(data) > 0 {
		const format = "P5\n%d %d\n%d\n"
		var width, height, top int
		_, err := fmt.Sscanf(string(data[:min(len(data), 64)]), format, &width, &height, &top)
		if err != nil || top != 255 || min(width, height) <= 0 || max(width, height) > MaxEdge {
			return nil, errors.New("pdftoppm printed no graymap")
		}
		// pdftoppm formats headers in exactly this way, so formatting one again returns its length.
		n := len(fmt.Sprintf(format, width, height, top))
		if len(data) < n+width*height {
			return nil, errors.New("pdftoppm stopped early")
		}
		out = append(out, &image.Gray{
			Pix: data[n : n+width*height], Stride: width, Rect: image.Rect(0, 0, width, height),
		})
		data = data[n+width*height:]
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: PDF without pages", ErrUnreadable)
	}
	return out, nil
}
