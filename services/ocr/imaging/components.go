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
	width, h := img.Bounds().Dx(), img.Bounds().Dy()
	var components components
	var above []inkRun
	for line := range h {
		row := img.Pix[line*img.Stride : line*img.Stride+width]
		var here []inkRun
		for x := 0; x < width; x++ {
			if row[x] >= inkLevel {
				continue
			}
			start := x
			for x < width && row[x] < inkLevel {
				x++
			}
			here = append(here, inkRun{start, x, components.add(start, x, line)})
		}
		components.link(above, here)
		above = here
	}
	return &components
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
	for _, run := range here {
		for j < len(above) && above[j].to < run.from {
			j++
		}
		// A run above may also touch the next run of this row, so j stays where it is.
		for k := j; k < len(above) && above[k].from <= run.to; k++ {
			a, b := c.root(above[k].label), c.root(run.label)
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
