package imaging

import (
	"image"
	"image/color"
	"image/draw"
	"slices"
)

const (
	// paperTiles is the number of tiles along the longer edge of a photo. Papers are told apart by
	// the brightness of tiles, so a gap between two of them must have the width of three.
	paperTiles = 160
	// minPaperTile is the smallest edge of a tile in pixels, so that none is within a letter.
	minPaperTile = 8
	// maxPapers limits the papers of a photo, because each is read separately.
	maxPapers = 6
	// evenPaper is the share of brightness that two adjacent tiles of a paper have in common. It
	// admits shadows, but no edge of a paper.
	evenPaper = 0.93
	// besidePaper is the largest brightness of the background, as a share of the paper's.
	besidePaper = 0.85
	// printOnPaper is the largest brightness of ink, as a share of the paper's.
	printOnPaper = 0.7
)

// Paper is one of several papers on a photo.
type Paper struct {
	// Image shows the paper without the others, and At is the place of its upper left corner on the
	// photo.
	Image *image.Gray
	At    image.Point
}

// Papers returns the printed papers on a photo in reading order, or nil unless there are at least
// two. A paper is a bright convex area that is darker on all sides: a fold, a band of ink and the
// margin of a scan do not divide it. Papers that touch or overlap are not distinguished.
func Papers(photo *image.Gray) []Paper {
	grid := newTiles(photo)
	areas := grid.papers()
	if len(areas) < 2 || len(areas) > maxPapers || grid.banded(areas) {
		return nil
	}
	var out []Paper
	for _, area := range inReadingOrder(areas) {
		out = append(out, grid.cut(photo, area))
	}
	return out
}

// paperArea is an area of tiles.
type paperArea struct {
	label  int
	count  int
	bounds image.Rectangle
}

// papers returns the areas that are papers with print.
func (t tiles) papers() []paperArea {
	var out []paperArea
	for start := range t.label {
		if t.label[start] != 0 {
			continue
		}
		area := t.flood(start)
		// A receipt has at least a fortieth of the photo.
		large := 40*area.count >= len(t.label) && area.bounds.Dx() > 6 && area.bounds.Dy() > 6
		if large && t.isPaper(area) {
			out = append(out, area)
		}
	}
	return out
}

// isPaper reports whether an area has print, is convex except for holes, and is brighter than the
// tiles around it.
func (t tiles) isPaper(area paperArea) bool {
	var corners []image.Point
	inside, prints, dark, edge := 0, 0, 0, 0
	for y := area.bounds.Min.Y; y < area.bounds.Max.Y; y++ {
		row := t.label[y*t.columns:][:t.columns]
		first, last := slices.Index(row, area.label), lastIndex(row, area.label)
		corners = append(corners, image.Pt(first, y), image.Pt(first, y+1),
			image.Pt(last+1, y), image.Pt(last+1, y+1))
		inside += last + 1 - first
		for x := first; x <= last; x++ {
			if row[x] != area.label {
				continue
			}
			at := y*t.columns + x
			isDark, isEdge := t.edges(at)
			dark, edge = dark+isDark, edge+isEdge
			// The background in a tile at the edge is darker, like print.
			if isEdge == 0 && t.printed[at] {
				prints++
			}
		}
	}
	convex := float64(inside) >= 0.85*hullArea(corners)
	return convex && 10*dark >= 9*edge && edge > 0 && 100*prints >= inside
}

// banded reports whether two of the areas are one paper with a band of ink: their sides are in
// line, and the space between them is not the background, which is beside both.
func (t tiles) banded(areas []paperArea) bool {
	for i, a := range areas {
		for _, b := range areas[:i] {
			if t.isBand(a.bounds, b.bounds, false) || t.isBand(a.bounds, b.bounds, true) {
				return true
			}
		}
	}
	return false
}

// isBand compares areas that are below each other, or beside each other if flipped is set.
func (t tiles) isBand(a, b image.Rectangle, flipped bool) bool {
	const tolerance, width = 2, 4
	flip := func(r image.Rectangle) image.Rectangle {
		if flipped {
			return image.Rect(r.Min.Y, r.Min.X, r.Max.Y, r.Max.X)
		}
		return r
	}
	a, b = flip(a), flip(b)
	if a.Min.Y > b.Min.Y {
		a, b = b, a
	}
	if b.Min.Y <= a.Max.Y || apart(a.Min.X, b.Min.X) > tolerance ||
		apart(a.Max.X, b.Max.X) > tolerance {
		return false
	}
	left, right := min(a.Min.X, b.Min.X)-tolerance, max(a.Max.X, b.Max.X)+tolerance
	top, bottom := a.Max.Y, b.Min.Y
	between, _ := t.mean(flip(image.Rect(left+2*tolerance, top, right-2*tolerance, bottom)))
	leftSide, onLeft := t.mean(flip(image.Rect(left-width, top, left, bottom)))
	rightSide, onRight := t.mean(flip(image.Rect(right, top, right+width, bottom)))
	// The light on the two sides differs.
	beside := (leftSide + rightSide) / 2
	return !onLeft || !onRight || min(beside, between) < 0.8*max(beside, between)
}

func apart(a, b int) int { return max(a-b, b-a) }

// inReadingOrder sorts areas from left to right, and rows of them from top to bottom.
func inReadingOrder(areas []paperArea) []paperArea {
	slices.SortFunc(areas, func(a, b paperArea) int { return a.bounds.Min.Y - b.bounds.Min.Y })
	for start := 0; start < len(areas); {
		middle := (areas[start].bounds.Min.Y + areas[start].bounds.Max.Y) / 2
		end := start
		for end < len(areas) && areas[end].bounds.Min.Y < middle {
			end++
		}
		slices.SortFunc(areas[start:end], func(a, b paperArea) int {
			return a.bounds.Min.X - b.bounds.Min.X
		})
		start = end
	}
	return areas
}

// cut returns the image of a paper with a margin. Beside the margin, which other papers may reach,
// it has the brightness of the background.
func (t tiles) cut(photo *image.Gray, area paperArea) Paper {
	const margin = 2
	whole := image.Rect(0, 0, t.columns, t.rows)
	at := area.bounds.Inset(-margin).Intersect(whole)
	place := image.Rectangle{Min: at.Min.Mul(t.size), Max: at.Max.Mul(t.size)}
	place = place.Intersect(photo.Bounds())
	out := image.NewGray(image.Rectangle{Max: place.Size()})
	draw.Draw(out, out.Rect, photo, place.Min, draw.Src)
	for y := at.Min.Y; y < at.Max.Y; y++ {
		near := min(max(y, area.bounds.Min.Y), area.bounds.Max.Y-1) * t.columns
		row := t.label[near:][:t.columns]
		left := slices.Index(row, area.label) - margin
		right := lastIndex(row, area.label) + margin
		fill := func(from, to, beside int) {
			if from < to {
				level := image.NewUniform(color.Gray{Y: uint8(t.bright[near+beside])})
				strip := image.Rect(from, y, to, y+1).Sub(at.Min)
				strip.Min, strip.Max = strip.Min.Mul(t.size), strip.Max.Mul(t.size)
				draw.Draw(out, strip, level, image.Point{}, draw.Src)
			}
		}
		fill(at.Min.X, left, left)
		fill(right+1, at.Max.X, right)
	}
	return Paper{out, place.Min}
}
