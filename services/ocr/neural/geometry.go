package neural

import (
	"cmp"
	"image"
	"math"
	"slices"
)

type point struct{ x, y float64 }

// quad is a rectangle of any direction. Its sides are the vectors along and down, which start at
// origin.
type quad struct{ origin, along, down point }

func (p point) plus(q point) point    { return point{p.x + q.x, p.y + q.y} }
func (p point) times(f float64) point { return point{p.x * f, p.y * f} }
func (p point) length() float64       { return math.Hypot(p.x, p.y) }
func (q quad) width() float64         { return q.along.length() }
func (q quad) height() float64        { return q.down.length() }
func (q quad) angle() float64         { return math.Atan2(q.along.y, q.along.x) }

// at returns the point at a share of the width and of the height.
func (q quad) at(x, y float64) point {
	return q.origin.plus(q.along.times(x)).plus(q.down.times(y))
}

func (q quad) reversed() quad {
	return quad{q.at(1, 1), q.along.times(-1), q.down.times(-1)}
}

func (q quad) scaled(f float64) quad {
	return quad{q.origin.times(f), q.along.times(f), q.down.times(f)}
}

func (q quad) grown(by float64) quad {
	w, h := max(q.width(), 1e-6), max(q.height(), 1e-6)
	a, d := q.along.times(1/w), q.down.times(1/h)
	return quad{
		q.origin.plus(a.times(-by)).plus(d.times(-by)),
		a.times(w + 2*by), d.times(h + 2*by),
	}
}

// part returns the part of a quad between two shares of its width and of its height, from 0 to 1.
func (q quad) part(x0, y0, x1, y1 float64) quad {
	return quad{q.at(x0, y0), q.along.times(x1 - x0), q.down.times(y1 - y0)}
}

// straightened returns the bounding box of a quad after the page was rotated around its center so
// that rows at the angle are horizontal.
func (q quad) straightened(page image.Point, angle float64) image.Rectangle {
	sin, cos := math.Sincos(-angle)
	cx, cy := float64(page.X)/2, float64(page.Y)/2
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, c := range []point{q.at(0, 0), q.at(1, 0), q.at(0, 1), q.at(1, 1)} {
		dx, dy := c.x-cx, c.y-cy
		x, y := cx+dx*cos-dy*sin, cy+dx*sin+dy*cos
		x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
	}
	return image.Rect(
		int(math.Floor(x0)), int(math.Floor(y0)), int(math.Ceil(x1)), int(math.Ceil(y1)))
}

// smallestQuad returns the rectangle of the smallest area around points, with the longer side
// along. Rows of a photographed page are rarely horizontal, so an upright rectangle would contain
// parts of the neighboring rows. There must be at least one point. A single point or a straight row
// of them gets a rectangle one pixel high.
func smallestQuad(points []image.Point) quad {
	hull := hull(points)
	best, smallest := quad{}, math.Inf(1)
	for i, p := range hull {
		next := hull[(i+1)%len(hull)]
		dx, dy := float64(next.X-p.X), float64(next.Y-p.Y)
		n := math.Hypot(dx, dy)
		if n == 0 {
			dx, dy, n = 1, 0, 1
		}
		// One side of the smallest rectangle lies on a side of the hull.
		from := point{dx / n, dy / n}
		x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
		for _, p := range hull {
			x := float64(p.X)*from.x + float64(p.Y)*from.y
			y := -float64(p.X)*from.y + float64(p.Y)*from.x
			x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
		}
		if area := (x1 - x0 + 1) * (y1 - y0 + 1); area < smallest {
			smallest = area
			// Points are centers of pixels, so half a pixel is added on every side.
			at := point{x0*from.x - y0*from.y, x0*from.y + y0*from.x}
			best = quad{at, from.times(x1 - x0), point{-from.y, from.x}.times(y1 - y0)}
			if x1 == x0 {
				best.along = from.times(1e-6)
			}
			if y1 == y0 {
				best.down = point{-from.y, from.x}.times(1e-6)
			}
		}
	}
	best.origin = best.origin.plus(point{0.5, 0.5})
	return best.grown(0.5).alongLonger()
}

// alongLonger returns the same area with the longer side along, pointing right or, for vertical
// quads, down.
func (q quad) alongLonger() quad {
	if q.height() > q.width() {
		q = quad{q.at(0, 1), q.down.times(-1), q.along}
	}
	vertical := math.Abs(q.along.y) > math.Abs(q.along.x)
	if !vertical && q.along.x < 0 || vertical && q.along.y < 0 {
		q = q.reversed()
	}
	return q
}

// hull returns the convex hull of points, by Andrew's monotone chain. It sorts points. Points on a
// side between two corners are left out.
func hull(points []image.Point) []image.Point {
	slices.SortFunc(points, func(a, b image.Point) int { return cmp.Or(a.X-b.X, a.Y-b.Y) })
	points = slices.Compact(points)
	if len(points) < 3 {
		return points
	}
	var out []image.Point
	chain := func(from int, p image.Point) {
		for len(out) >= from+2 {
			a, b := out[len(out)-2], out[len(out)-1]
			if (b.X-a.X)*(p.Y-a.Y)-(b.Y-a.Y)*(p.X-a.X) > 0 {
				break
			}
			out = out[:len(out)-1]
		}
		out = append(out, p)
	}
	for _, p := range points {
		chain(0, p)
	}
	lower := len(out) - 1
	for _, p := range slices.Backward(points[:len(points)-1]) {
		chain(lower, p)
	}
	return out[:len(out)-1]
}
