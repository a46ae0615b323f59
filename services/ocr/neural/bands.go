package neural

import "image"

const (
	// bandRatio is the highest ratio of the sides of a page that is searched as a whole. With
	// 3, one more total of shorter receipts was wrong.
	bandRatio = 5
	// maxBands limits the work for one page.
	maxBands = 4
	// bandOverlap is the overlap of bands as a part of the shorter side. It exceeds the height of a
	// row of text.
	bandOverlap = 8
)

// band is a section of a page along its longer side. A long receipt is searched for text in several
// bands, because its letters would be too small for the detector on the whole page. area overlaps
// the neighboring bands, so that no row of text is cut, and own does not.
type band struct{ area, own image.Rectangle }

func (b band) owns(q quad) bool {
	middle := q.at(0.5, 0.5)
	return image.Pt(int(middle.x), int(middle.y)).In(b.own)
}

func bandsOf(size image.Point) []band {
	page := image.Rectangle{Max: size}
	shorter, longer := min(size.X, size.Y), max(size.X, size.Y)
	n := min((longer+bandRatio*shorter-1)/(bandRatio*shorter), maxBands)
	if n == 1 || size.X*size.Y <= detectPixels {
		return []band{{page, page}}
	}
	section := func(from, to int) image.Rectangle {
		if size.X > size.Y {
			return image.Rect(from, 0, to, size.Y)
		}
		return image.Rect(0, from, size.X, to)
	}
	out := make([]band, n)
	for i := range out {
		from, to, overlap := i*longer/n, (i+1)*longer/n, shorter/bandOverlap
		out[i] = band{section(from-overlap, to+overlap).Intersect(page), section(from, to)}
	}
	return out
}
