package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/ocrtest"
)

// receipts measures the time to read a photo of a receipt. The photos are uploaded one at a time,
// in five languages. Each round draws them with different noise, because a file that was read
// before is answered from the cache.
func (b *bench) receipts(ctx context.Context) error {
	target, err := b.stack(ctx, "large")
	if err != nil {
		return err
	}
	// There is no baseline, so the goal is a time.
	_, err = b.compare(ctx, comparison{
		what: "photo of a receipt, 1.5 megapixels, one at a time", unit: "s", atMost: 1.5,
		ours: func(ctx context.Context) (float64, error) {
			// The result is the median over all languages and rounds.
			var took []float64
			// Photos of different grain are different files.
			for grain := range uint64(b.rounds) {
				for _, name := range []string{"de", "en_us", "es", "fr", "it"} {
					file := filepath.Join("services", "ocr", "receipt", "testdata", name+".txt")
					text, err := os.ReadFile(file)
					if err != nil {
						return 0, err
					}
					photo, err := ocrtest.Photograph(string(text), 1_500_000, grain)
					if err != nil {
						return 0, err
					}
					// Drawing the photo is not measured.
					start := time.Now()
					if err := target.writers[0].previews(ctx, photo); err != nil {
						return 0, err
					}
					took = append(took, time.Since(start).Seconds())
				}
			}
			return median(took), nil
		},
	})
	return err
}
