package recognition

import (
	"bytes"
	"encoding/json"
	"image"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
)

// TestBenchSeveral reads photos of two and three receipts, as a whole and each paper alone, and
// logs how many are divided: "right" if each receipt has the total that it has alone, "not" or
// "warned" if the photo is read as one receipt, and otherwise "wrong". The receipts are drawn ones,
// and pairs of labeled ones. It runs only if RECEIPTS_SEVERAL names a folder like that of
// TestBenchRules, and needs its words.
func TestBenchSeveral(t *testing.T) {
	t.Parallel()
	data := os.Getenv("RECEIPTS_SEVERAL")
	if data == "" {
		t.Skip("RECEIPTS_SEVERAL is not set")
	}
	b := bench{reader: neuralReader(t), counts: map[string]int{}}
	all := []string{"beside", "below", "tilted", "touching", "overlapping", "three"}
	var drawn []labeled
	for _, name := range fixture.GoldenNames(t) {
		text, want := fixture.GoldenText(t, name)
		drawn = append(drawn, labeled{fixture.Printed(t, text, 22), want.Total})
	}
	for i := 0; i+2 < len(drawn); i += 4 {
		for kind, table := range fixture.Tables() {
			b.read(t, photos{"drawn on " + kind, table, drawn[i : i+3], all})
		}
	}
	scans := labeledImages(t, b.reader, data)
	pairs := []string{"beside", "below"}
	for i := 0; i+2 < len(scans); i += len(scans) / 20 {
		b.read(t, photos{"labeled on wood", fixture.Tables()["wood"], scans[i : i+3], pairs})
	}
	for _, key := range slices.Sorted(maps.Keys(b.counts)) {
		t.Logf("%s: %d", key, b.counts[key])
	}
	t.Logf("time as a whole %v, each paper alone %v", b.whole, b.apart)
}

// labeled is an image of one receipt, and its total.
type labeled struct {
	image *image.Gray
	total string
}

type bench struct {
	reader       Reader
	counts       map[string]int
	whole, apart time.Duration
}

// photos are arrangements of three receipts on a table.
type photos struct {
	name         string
	table        func(x, y int) float64
	receipts     []labeled
	arrangements []string
}

// read counts how each photo is divided.
func (b *bench) read(t *testing.T, of photos) {
	t.Helper()
	first, second, third := of.receipts[0], of.receipts[1], of.receipts[2]
	drawn := fixture.Arrangements(of.table, first.image, second.image, third.image)
	for _, arrangement := range of.arrangements {
		want := []string{first.total, second.total}
		if arrangement == "three" {
			want = append(want, third.total)
		}
		file := fixture.JPEG(t, fixture.Photograph(drawn[arrangement]))
		document, err := b.reader.opener.Open(t.Context(), file)
		require.NoError(t, err)
		start := time.Now()
		whole, _ := b.reader.readWhole(t.Context(), document.Images)
		middle := time.Now()
		apart, _ := b.reader.readImages(t.Context(), document.Images)
		b.whole += middle.Sub(start)
		b.apart += time.Since(middle)
		photo := of.name + ", " + arrangement
		before, after := divided(whole, want), divided(apart, want)
		b.counts[photo+", before: "+before]++
		b.counts[photo+", after: "+after]++
		if after != "right" {
			t.Log(photo, want, totals(whole), totals(apart), after)
		}
	}
}

func divided(r Reading, want []string) string {
	switch {
	case slices.Equal(totals(r), want):
		return "right"
	case len(r.Others) > 0:
		return "wrong"
	case r.several:
		return "warned"
	}
	return "not"
}

func totals(r Reading) []string {
	out := []string{r.Total}
	for _, other := range r.Others {
		out = append(out, other.Total)
	}
	return out
}

// labeledImages returns the images of the folder that show one page, with the total that the rules
// read.
func labeledImages(t *testing.T, r Reader, data string) []labeled {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(data, "manifest.jsonl"))
	require.NoError(t, err)
	var out []labeled
	for line := range bytes.Lines(manifest) {
		var label struct{ Image string }
		require.NoError(t, json.Unmarshal(line, &label))
		file, err := os.ReadFile(filepath.Join(data, label.Image))
		require.NoError(t, err)
		document, err := r.opener.Open(t.Context(), file)
		require.NoError(t, err)
		if len(document.Images) != 1 {
			continue
		}
		require.Empty(t, imaging.Papers(document.Images[0]), label.Image)
		small := imaging.ShrinkTo(document.Images[0], 2_000_000)
		total := savedWords(t, r, file).read().Total
		out = append(out, labeled{small, total})
	}
	return out
}
