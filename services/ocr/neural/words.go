package neural

import (
	"image"
	"regexp"
	"slices"
	"strings"
)

// words splits the text of a row at spaces and at wide gaps, and returns each word with the quad
// around its ink.
func (r *row) words() []Word {
	ink := newInk(r.image)
	var out []Word
	usual := r.spacing(ink)
	for from := 0; from < len(r.text); {
		if r.text[from].r == ' ' {
			from++
			continue
		}
		to := from + 1
		for to < len(r.text) && !r.timeAt(to) && r.text[to].r != ' ' &&
			!usual.separate(ink, r.text[to-1], r.text[to]) {
			to++
		}
		out = append(out, r.word(ink, from, to))
		from = to
	}
	return out
}

// glued matches a date with a time of day behind it, which the recognizer often reads without a
// space.
var glued = regexp.MustCompile(`[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{4}([0-9]{1,2}:[0-9]{2})`)

// timeAt reports whether a time of day begins at a character, directly behind a date.
func (r *row) timeAt(i int) bool {
	// A byte per character keeps the positions.
	text := make([]byte, len(r.text))
	for j, c := range r.text {
		text[j] = byte(min(c.r, 0x7f))
	}
	for _, at := range glued.FindAllSubmatchIndex(text, -1) {
		if at[2] == i {
			return true
		}
	}
	return false
}

// word returns the word of some characters. It reaches halfway into the gaps to its neighbors, and
// is then trimmed to its ink.
func (r *row) word(ink ink, from, to int) Word {
	left, right := 0, ink.w
	if from > 0 {
		left = ink.gap(r.previous(from), r.text[from].middle)
	}
	if to < len(r.text) {
		right = ink.gap(r.text[to-1].middle, r.next(to))
	}
	word := Word{}
	for _, c := range r.text[from:to] {
		word.Text += string(c.r)
		word.Confidence += c.confidence / float64(to-from)
	}
	box := ink.trim(left, max(right, left+1))
	x := func(column int) float64 { return float64(column) / float64(ink.w) }
	y := func(row int) float64 { return float64(row) / float64(ink.h) }
	word.area = r.area.part(x(box.Min.X), y(box.Min.Y), x(box.Max.X), y(box.Max.Y))
	return word
}

// previous and next return the middle of the nearest character that is no space.
func (r *row) previous(i int) float64 {
	for i--; i > 0 && r.text[i].r == ' '; i-- {
	}
	return r.text[i].middle
}

func (r *row) next(i int) float64 {
	for ; i < len(r.text)-1 && r.text[i].r == ' '; i++ {
	}
	return r.text[i].middle
}

type ink struct {
	w, h    int
	pixels  []bool
	columns []int
}

// newInk separates print from paper in the middle between their brightnesses. Most pixels are
// paper. The paper may be darker than the print. Percentiles ignore noise.
func newInk(img *image.Gray) ink {
	width, height := img.Rect.Dx(), img.Rect.Dy()
	var histogram [256]int
	for _, v := range img.Pix {
		histogram[v]++
	}
	at := func(share float64) int {
		left := int(share * float64(width*height))
		for v, n := range histogram {
			if left -= n; left < 0 {
				return v
			}
		}
		return 255
	}
	dark, middle, light := at(0.02), at(0.5), at(0.98)
	level, inverted := (dark+middle)/2, false
	if light-middle > middle-dark {
		level, inverted = (light+middle)/2, true
	}
	ink := ink{w: width, h: height, pixels: make([]bool, width*height), columns: make([]int, width)}
	for y := range height {
		for x, v := range img.Pix[y*img.Stride:][:width] {
			if (int(v) < level) != inverted {
				ink.pixels[y*width+x] = true
				ink.columns[x]++
			}
		}
	}
	return ink
}

func (k ink) widestGap(left, right float64) (from, to int) {
	start := -1
	for x := max(int(left), 0); x < min(int(right)+1, k.w); x++ {
		// A single pixel is dirt.
		if k.columns[x] > 1 {
			start = -1
			continue
		}
		if start < 0 {
			start = x
		}
		if x+1-start > to-from {
			from, to = start, x+1
		}
	}
	return from, to
}

// gap returns the middle of the widest gap between two characters, or the middle between them if
// they touch.
func (k ink) gap(left, right float64) int {
	if from, to := k.widestGap(left, right); to > from {
		return (from + to) / 2
	}
	return int((left + right) / 2)
}

// spacing is the usual distance between the middles of adjacent characters of a row, and the usual
// width of the gaps between them.
type spacing struct{ pitch, gap float64 }

// spacing measures a row. Without adjacent characters, it returns that of usual print.
func (r *row) spacing(ink ink) spacing {
	measured := spacing{rowHeight / 3, 0}
	var distances, gaps []float64
	for i := 1; i < len(r.text); i++ {
		a, b := r.text[i-1], r.text[i]
		if a.r == ' ' || b.r == ' ' {
			continue
		}
		from, to := ink.widestGap(a.middle, b.middle)
		distances = append(distances, b.middle-a.middle)
		gaps = append(gaps, float64(to-from))
	}
	if len(distances) > 0 {
		slices.Sort(distances)
		slices.Sort(gaps)
		measured = spacing{distances[len(distances)/2], gaps[len(gaps)/2]}
	}
	return measured
}

// separate reports whether a gap between two characters separates words although the recognizer has
// read no space: it is wider than the usual gap of the row and than a fifth of the letters' height,
// and the characters are farther apart. The gaps around narrow punctuation are wide in monospaced
// print.
func (s spacing) separate(k ink, a, b character) bool {
	wide, far := 0.15*rowHeight, 1.35
	if narrow(a.r) || narrow(b.r) {
		wide, far = 0.25*rowHeight, 1.6
	}
	from, to := k.widestGap(a.middle, b.middle)
	gap := float64(to - from)
	return gap >= wide && gap >= 2*s.gap+2 && b.middle-a.middle >= far*s.pitch
}

func narrow(r rune) bool { return strings.ContainsRune(".,:;'!|ilI1-()", r) }

// trim returns the box of the ink between two columns: without empty columns at the ends, and
// without rows that a gap separates from the middle, which belong to neighboring rows of text.
func (k ink) trim(left, right int) image.Rectangle {
	left, right = max(left, 0), min(right, k.w)
	for left < right-1 && k.columns[left] == 0 {
		left++
	}
	for right > left+1 && k.columns[right-1] == 0 {
		right--
	}
	rows := make([]int, k.h)
	for y := range k.h {
		for _, p := range k.pixels[y*k.w+left : y*k.w+right] {
			if p {
				rows[y]++
			}
		}
	}
	top, bottom := k.run(rows)
	return image.Rect(left, top, right, bottom)
}

// run returns the rows of ink around the densest row. Gaps of the size of that below an accent
// belong to it.
func (k ink) run(rows []int) (top, bottom int) {
	const accent = 4
	densest := k.h / 2
	for y := k.h / 4; y < k.h*3/4; y++ {
		if rows[y] > rows[densest] {
			densest = y
		}
	}
	if rows[densest] == 0 {
		return 0, k.h
	}
	top, bottom = densest, densest+1
	for y, empty := top-1, 0; y >= 0 && empty <= accent; y-- {
		if empty++; rows[y] > 0 {
			top, empty = y, 0
		}
	}
	for y, empty := bottom, 0; y < k.h && empty <= accent; y++ {
		if empty++; rows[y] > 0 {
			bottom, empty = y+1, 0
		}
	}
	return top, bottom
}
