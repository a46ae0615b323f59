package recognition

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
)

// TestBenchHardInputs reads drawn receipts of several languages under conditions that make reading
// hard, and logs how many have the right total, date and amounts of lines. It runs only if
// RECEIPTS_HARD is set.
func TestBenchHardInputs(t *testing.T) {
	t.Parallel()
	if os.Getenv("RECEIPTS_HARD") == "" {
		t.Skip("RECEIPTS_HARD is not set")
	}
	reader := neuralReader(t)
	read, right, whole := 0, 0, 0
	for _, name := range fixture.GoldenNames(t) {
		text, want := fixture.GoldenText(t, name)
		for condition, file := range hardInputs(t, text) {
			got, err := reader.Read(t.Context(), file)
			require.NoError(t, err)
			found := shown(got.Receipt)
			read++
			if found.Total == want.Total && found.Date == want.Date {
				right++
			} else {
				t.Logf("%s, %s: total %s, date %s", name, condition, found.Total, found.Date)
			}
			if slices.Equal(found.Amounts, want.Amounts) {
				whole++
			} else {
				t.Logf("%s, %s: lines %v", name, condition, found.Amounts)
			}
		}
	}
	t.Logf("total and date right: %d of %d; all amounts of lines: %d", right, read, whole)
	for _, lines := range []int{130, 300} {
		text, want := longReceipt(lines)
		for _, size := range []float64{12, 16, 20, 26} {
			file := fixture.JPEG(t, fixture.Photograph(fixture.Printed(t, text, size)))
			got, err := reader.Read(t.Context(), file)
			require.NoError(t, err)
			found := shown(got.Receipt)
			same := 0
			for i, amount := range found.Amounts[:min(lines, len(found.Amounts))] {
				if amount == want.Amounts[i] {
					same++
				}
			}
			t.Logf("letters of %g pixels: %d of %d lines in place, total right: %t",
				size, same, lines, found.Total == want.Total)
		}
	}
}

// longReceipt returns the text of a receipt with many lines, and their amounts and total.
func longReceipt(lines int) (text string, want fixture.Golden) {
	names := []string{"Whole milk", "Rye bread", "Green apples", "Butter", "Coffee beans", "Pasta"}
	var b strings.Builder
	b.WriteString("GREEN GROCER LTD\n12 Mill Lane, Dublin\n18/03/2026 14:05\n\n")
	sum := 0
	for i := range lines {
		price := 100 + i*37%900
		sum += price
		want.Amounts = append(want.Amounts, fmt.Sprintf("%d.%02d", price/100, price%100))
		fmt.Fprintf(&b, "%-28s%8s\n", names[i%len(names)], want.Amounts[i])
	}
	want.Total = fmt.Sprintf("%d.%02d", sum/100, sum%100)
	fmt.Fprintf(&b, "\n%-28s%8s\n", "TOTAL EUR", want.Total)
	return b.String(), want
}

// hardInputs returns files of a receipt by condition.
func hardInputs(t *testing.T, text string) map[string][]byte {
	t.Helper()
	plain := fixture.Printed(t, text, 26)
	photo := fixture.Photograph(imaging.Rotate(plain, 0.03))
	large := fixture.Photograph(fixture.Printed(t, text, 112))
	blurred := plain
	for range 3 {
		blurred = fixture.Photograph(blurred)
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, photo))
	return map[string][]byte{
		"turned":        fixture.JPEGAs(t, photo, 3),
		"on its side":   fixture.JPEG(t, turned(photo)),
		"tilted":        fixture.JPEG(t, fixture.Photograph(imaging.Rotate(plain, 0.1))),
		"dark":          fixture.JPEG(t, darkened(photo)),
		"blurred":       fixture.JPEG(t, blurred),
		"HEIC":          fixture.HEIC(t, b.Bytes()),
		"12 megapixels": fixture.JPEG(t, large),
		"folded":        fixture.JPEG(t, fixture.Photograph(folded(plain, 0.08))),
	}
}

// turned returns the image turned clockwise by a quarter.
func turned(img *image.Gray) *image.Gray {
	size := img.Rect.Size()
	out := image.NewGray(image.Rect(0, 0, size.Y, size.X))
	for y := range size.Y {
		for x := range size.X {
			out.SetGray(size.Y-1-y, x, img.GrayAt(x, y))
		}
	}
	return out
}

// darkened returns the image as taken with little light: dim and with much noise.
func darkened(img *image.Gray) *image.Gray {
	r := rand.New(rand.NewPCG(3, 5))
	out := image.NewGray(img.Rect)
	for i, v := range img.Pix {
		out.Pix[i] = uint8(max(0, min(255, float64(v)*0.3+r.NormFloat64()*3)))
	}
	return out
}

// folded returns the image of a paper with a horizontal fold in the middle: the slope of
// the rows grows with the distance from it, as a photo shows two bent halves.
func folded(img *image.Gray, slope float64) *image.Gray {
	size := img.Rect.Size()
	margin := int(slope * float64(size.X) / 2)
	out := image.NewGray(image.Rect(0, 0, size.X, size.Y+2*margin))
	for y := range out.Rect.Dy() {
		for x := range size.X {
			bend := 2*float64(y)/float64(out.Rect.Dy()) - 1
			from := y - margin - int(slope*bend*float64(x-size.X/2))
			v := uint8(255)
			if from >= 0 && from < size.Y {
				v = img.Pix[from*img.Stride+x]
			}
			out.Pix[y*out.Stride+x] = v
		}
	}
	return out
}
