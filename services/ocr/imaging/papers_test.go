package imaging

import (
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
)

func TestPapers(t *testing.T) {
	t.Parallel()
	var receipts []*image.Gray
	for _, name := range []string{"de", "en_us", "fr"} {
		text, _ := fixture.GoldenText(t, name)
		receipts = append(receipts, fixture.Printed(t, text, 14))
	}
	numbers := map[string]int{"beside": 2, "below": 2, "tilted": 2, "three": 3}
	for kind, table := range fixture.Tables() {
		photos := fixture.Arrangements(table, receipts[0], receipts[1], receipts[2])
		for name, photo := range photos {
			t.Run(name+" on "+kind, func(t *testing.T) {
				t.Parallel()
				papers := Papers(fixture.Photograph(photo))
				if kind == "white" {
					require.Empty(t, papers)
					return
				}
				require.Len(t, papers, numbers[name])
				for i, p := range papers {
					within := p.Image.Rect.Add(p.At)
					require.True(t, within.In(photo.Rect))
					paper := receipts[i].Rect.Size()
					require.GreaterOrEqual(t, within.Dx(), paper.X-8)
					require.GreaterOrEqual(t, within.Dy(), paper.Y-8)
					if name == "beside" || name == "below" {
						require.Less(t, within.Dx(), paper.X+60)
						require.Less(t, within.Dy(), paper.Y+60)
					}
				}
			})
		}
	}
}

// TestPapersKeepsOne photographs one receipt on which something looks like the edge of a paper.
func TestPapersKeepsOne(t *testing.T) {
	t.Parallel()
	text, _ := fixture.GoldenText(t, "de")
	plain := fixture.Printed(t, text, 22)
	width, height := plain.Rect.Dx(), plain.Rect.Dy()
	shaded := func(area image.Rectangle, share float64) *image.Gray {
		out := image.NewGray(plain.Rect)
		draw.Draw(out, out.Rect, plain, image.Point{}, draw.Src)
		for y := area.Min.Y; y < area.Max.Y; y++ {
			for x := area.Min.X; x < area.Max.X; x++ {
				out.SetGray(x, y, color.Gray{Y: uint8(float64(out.GrayAt(x, y).Y) * share)})
			}
		}
		return out
	}
	torn := func() *image.Gray {
		out := shaded(image.Rectangle{}, 1)
		for x := range width {
			for y := height - 90 + x*7%80; y < height; y++ {
				out.SetGray(x, y, color.Gray{Y: 45})
			}
		}
		return out
	}
	blank := image.NewGray(image.Rect(0, 0, width, height/2))
	draw.Draw(blank, blank.Rect, image.White, image.Point{}, draw.Src)
	for name, papers := range map[string][]*image.Gray{
		"plain":                   {plain},
		"band of ink":             {shaded(image.Rect(0, 200, width, 280), 0.1)},
		"vertical band":           {shaded(image.Rect(300, 0, 380, height), 0.1)},
		"fold with a shadow":      {shaded(image.Rect(0, height/2, width, height), 0.75)},
		"dark crease":             {shaded(image.Rect(0, height/2, width, height/2+6), 0.3)},
		"torn edge":               {torn()},
		"shadow across the paper": {shaded(image.Rect(width/3, 0, width, height), 0.8)},
		"paper without print":     {plain, blank},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, table := range fixture.Tables() {
				laid := []fixture.Laid{{Paper: papers[0], At: image.Pt(80, 80)}}
				size := image.Pt(width+160, height+160)
				if len(papers) > 1 {
					size.X += width + 90
					right := image.Pt(width+170, 80)
					laid = append(laid, fixture.Laid{Paper: papers[1], At: right})
				}
				photo := fixture.Photograph(fixture.OnTable(size, table, laid...))
				require.Empty(t, Papers(photo), kind)
			}
			require.Empty(t, Papers(fixture.Photograph(papers[0])), "without a table")
		})
	}
}

// TestPapersOfOverlapping has two papers of which one covers a corner of the other. The third paper
// alone must not divide the photo.
func TestPapersOfOverlapping(t *testing.T) {
	t.Parallel()
	text, _ := fixture.GoldenText(t, "de")
	paper := fixture.Printed(t, text, 14)
	width, height := paper.Rect.Dx(), paper.Rect.Dy()
	photo := fixture.OnTable(image.Pt(3*width+300, 2*height), fixture.Tables()["dark"],
		fixture.Laid{Paper: paper, At: image.Pt(80, 40)},
		fixture.Laid{Paper: paper, At: image.Pt(40+width, height/2)},
		fixture.Laid{Paper: paper, At: image.Pt(200+2*width, 40)})
	require.Empty(t, Papers(fixture.Photograph(photo)))
}
