package imaging

import "image"

func componentHeights(img *image.Gray) []int {
	var out []int
	for _, l := range inkComponents(img).letters() {
		out = append(out, l.Dy())
	}
	return out
}

// inkComponents joins the runs of ink of adjacent rows.
func inkComponents(img *image.Gray) *components {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	var c components
	var above []inkRun
	for y := range h {
		row := img.Pix[y*img.Stride : y*img.Stride+w]
		var here []inkRun
		for x := 0; x < w; x++ {
			if row[x] >= inkLevel {
				continue
			}
			start := x
			for x < w && row[x] < inkLevel {
				x++
			}
			here = append(here, inkRun{start, x, c.add(start, x, y)})
		}
		c.link(above, here)
		above = here
	}
	return &c
}

type inkRun struct{ from, to, label int }

// components is a union-find structure over runs, with the bounding box of each component.
type components struct {
	parent []int
	box    []image.Rectangle
}

func (c *components) add(from, to, y int) int {
	c.parent = append(c.parent, len(c.parent))
	c.box = append(c.box, image.Rect(from, y, to, y+1))
	return len(c.parent) - 1
}

// root returns the representative of a component, and halves the path to it.
func (c *components) root(i int) int {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}

// link joins the components of runs that touch between two adjacent rows, also diagonally. Both
// lists are sorted by position.
func (c *components) link(above, here []inkRun) {
	j := 0
	for _, r := range here {
		for j < len(above) && above[j].to < r.from {
			j++
		}
		// A run above may also touch the next run of this row, so j stays where it is.
		for k := j; k < len(above) && above[k].from <= r.to; k++ {
			a, b := c.root(above[k].label), c.root(r.label)
			if a != b {
				c.parent[b] = a
				c.box[a] = c.box[a].Union(c.box[b])
			}
		}
	}
}

// letters returns the boxes of components with the proportions of letters, without specks, rules
// and logos.
func (c *components) letters() []image.Rectangle {
	var out []image.Rectangle
	for i, p := range c.parent {
		if p != i {
			continue
		}
		w, h := c.box[i].Dx(), c.box[i].Dy()
		if h >= 7 && h <= 150 && w >= 2 && w <= 3*h && h <= 8*w {
			out = append(out, c.box[i])
		}
	}
	return out
}
