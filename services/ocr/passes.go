package ocr

import (
	"context"
	"image"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/receipt"
)

// local reads pictures on this machine, by Tesseract and the rules of package receipt.
type local struct {
	engine tesseract
	now    func() time.Time
}

// pass is one way to have a picture read.
type pass struct {
	mode     segmentation
	language string
	// grow is by how much the picture is enlarged beyond its prepared size.
	grow float64
}

// read implements engine: it reads the pages once, and again in other ways while that leaves doubts.
func (r local) read(ctx context.Context, pictures []*image.Gray) (reading, error) {
	var pages []prepared
	var first []receipt.Page
	for _, img := range pictures {
		p, words, err := r.uprightPage(ctx, img)
		if err != nil {
			return reading{}, err
		}
		pages = append(pages, p)
		first = append(first, p.straight(words))
	}
	out := reading{}
	for _, p := range pages {
		out.pages = append(out.pages, p.frame())
	}
	readings := []receipt.Reading{receipt.Read(first)}
	out.Receipt = receipt.Join(r.now(), readings...)
	for i, again := range r.passes(first) {
		// A third look costs more time than the lines alone are worth.
		if out.Sure() || i > 0 && !out.Doubtful() {
			break
		}
		read, err := r.pass(ctx, pages, again)
		if err != nil {
			return reading{}, err
		}
		readings = append(readings, receipt.Read(read))
		out.Receipt = receipt.Join(r.now(), readings...)
	}
	return r.closer(ctx, pages, out, readings)
}

const (
	// sureDate and sureSum: below them, the rows of the date and of the sums are looked at once more, by themselves.
	sureDate = 0.8
	sureSum  = 0.8
	// sureOnce is sureSum for what was read once.
	sureOnce = 0.9
)

// look is a second look at single rows, at several sizes, for one thing.
type look struct {
	places []receipt.Place
	views  []view
	read   func([]receipt.Page) receipt.Reading
}

// closer looks again at the rows that decide what is still in doubt.
func (r local) closer(ctx context.Context, pages []prepared, out reading, readings []receipt.Reading) (reading, error) {
	var looks []look
	sure := sureSum
	if len(readings) == 1 {
		sure = sureOnce
	}
	if c := out.Confidence["total"]; c > 0 && c < sure {
		looks = append(looks, look{readings[len(readings)-1].SumPlaces(), rowViews, receipt.ReadSums})
	}
	if out.Total != "" && out.Confidence["date"] < sureDate {
		looks = append(looks, look{receipt.DatePlaces(readings...), rowViews, receipt.ReadDates})
	}
	if out.Total != "" {
		looks = append(looks, look{receipt.NamePlace(readings...), nameViews, receipt.ReadNames})
	}
	closer, err := r.lookAtRows(ctx, pages, looks)
	if err != nil {
		return reading{}, err
	}
	out.Receipt = receipt.Join(r.now(), append(readings, closer...)...)
	return out, nil
}

// lookAtRows reads single rows, from edge to edge: what stood between other things is often missed.
func (r local) lookAtRows(ctx context.Context, pages []prepared, looks []look) ([]receipt.Reading, error) {
	var rows []prepared
	var pictures []*image.Gray
	for _, l := range looks {
		for _, v := range l.views {
			for _, place := range l.places {
				row := pages[place.Page-1].enlarged(v.grow).row(place.Box, v.air)
				rows, pictures = append(rows, row), append(pictures, row.picture())
			}
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	words, err := r.engine.words(ctx, pass{mode: singleRow, language: mainLanguage}, pictures...)
	if err != nil {
		return nil, err
	}
	var out []receipt.Reading
	for _, l := range looks {
		if len(l.places) == 0 {
			continue
		}
		for range l.views {
			seen := make([]receipt.Page, len(pages))
			for i, p := range pages {
				seen[i] = receipt.Page{Width: p.page.X, Height: p.page.Y}
			}
			for _, place := range l.places {
				for _, w := range rows[0].straight(words[0]).Words {
					// It is one row: words that sit a little higher or lower are none of their own.
					w.Box.Y, w.Box.H = place.Box.Y, place.Box.H
					seen[place.Page-1].Words = append(seen[place.Page-1].Words, w)
				}
				rows, words = rows[1:], words[1:]
			}
			out = append(out, l.read(seen))
		}
	}
	return out, nil
}

// view is how a single row is looked at: by how much it is enlarged, and how much of what is above and below is left, as
// a share of its height.
type view struct{ grow, air float64 }

var (
	// rowViews: the engine misreads other figures at other sizes, so that what it reads twice is likely so.
	rowViews = []view{{0.8, 0.25}, {1.25, 0.4}, {2, 0.25}}
	// nameViews: a name is told by its surest spelling, which is most often that of larger letters.
	nameViews = []view{{1.25, 0.25}}
)

func (r local) passes(first []receipt.Page) []pass {
	if receipt.Blank(first) {
		return nil
	}
	language := receipt.Language(first)
	return []pass{
		{mode: block, language: language, grow: 1.36},
		{mode: columns, language: language, grow: 1.36},
		{mode: block, language: language, grow: 1},
	}
}

func (r local) pass(ctx context.Context, pages []prepared, how pass) ([]receipt.Page, error) {
	var out []receipt.Page
	for _, p := range pages {
		p = p.enlarged(how.grow)
		words, err := r.engine.words(ctx, how, p.picture())
		if err != nil {
			return nil, err
		}
		out = append(out, p.straight(words[0]))
	}
	return out, nil
}

// uprightPage reads a page as it came, and turned by quarters when hardly a word comes out of it.
func (r local) uprightPage(ctx context.Context, img *image.Gray) (prepared, []receipt.Word, error) {
	white := whiten(img)
	turns := []int{0, 2, 1, 3}
	if sideways(white) {
		turns = []int{0, 1, 3, 2}
	}
	ink := darken(withoutEdges(white))
	var best prepared
	var words []receipt.Word
	most := -1.0
	bare := map[int]bool{}
	for _, quarters := range turns {
		// Where no rows run one way, none run the other way round.
		if bare[(quarters+2)%4] {
			continue
		}
		p := prepare(turn(ink, quarters)).enlarged(1)
		p.quarters = quarters
		if p.bare {
			return p, nil, nil
		}
		found, err := r.engine.words(ctx, pass{mode: columns, language: mainLanguage}, p.picture())
		if err != nil {
			return prepared{}, nil, err
		}
		n, some := legible(found[0])
		bare[quarters] = !some
		if n > most {
			best, words, most = p, found[0], n
		}
		if most >= rightWayUp {
			break
		}
	}
	return best, words, nil
}

// rightWayUp: the share of legible words from which a page is not turned any more.
const rightWayUp = 0.35

// legible is the share of what was found that is surely words: on its side or upside down, a page yields scraps. Without
// some letters at all there is nothing to tell by.
func legible(words []receipt.Word) (share float64, some bool) {
	sure, all := 0.0, 0.0
	for _, w := range words {
		n := float64(len([]rune(w.Text)))
		all += n
		if w.Confidence > 0.7 && n >= 3 {
			sure += n
		}
	}
	if all < 20 {
		return 0, false
	}
	return sure / all, true
}

// straight brings words to the size of the upright page, but leaves them straight: rows are told by their height.
func (p prepared) straight(words []receipt.Word) receipt.Page {
	out := receipt.Page{Width: p.page.X, Height: p.page.Y}
	for _, w := range words {
		b := w.Box
		w.Box = receipt.Box{X: int(float64(b.X) / p.scale), Y: int(float64(b.Y) / p.scale), W: int(float64(b.W) / p.scale), H: int(float64(b.H) / p.scale)}
		out.Words = append(out.Words, w)
	}
	return out
}
