package recognition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/receipt/calibration"
)

// labeledReceipt is a line of the manifest of labeled receipts.
type labeledReceipt struct {
	Image, Company, Date, Currency, Total string

	AnyDate  []string `json:"date_any"`
	Items    []struct{ Amount string }
	Verified bool `json:"items_verified"`
}

// results returns the score of each labeled field, and whether its value is right.
func (l labeledReceipt) results(found receipt.Receipt) map[string]calibration.Result {
	out := map[string]calibration.Result{}
	add := func(field, label string, right bool) {
		if score, ok := found.Confidence[field]; ok && label != "" {
			out[field] = calibration.Result{Score: score, Right: right}
		}
	}
	add("merchant", l.Company, fixture.SameName(found.Merchant, l.Company))
	add("date", l.Date, found.Date == l.Date || slices.Contains(l.AnyDate, found.Date))
	add("currency", l.Currency, found.Currency == l.Currency)
	add("total", l.Total, found.Total == l.Total)
	if l.Verified {
		var want, got []string
		for _, it := range l.Items {
			want = append(want, it.Amount)
		}
		for _, it := range found.Items {
			got = append(got, it.Amount)
		}
		slices.Sort(want)
		slices.Sort(got)
		add("lines", "verified", slices.Equal(want, got))
	}
	return out
}

// TestCalibrate fits the confidences to the labeled receipts of RECEIPTS_DATA, whose words
// RECEIPTS_WORDS has, and writes them to RECEIPTS_SCORES. It prints how many values are right by
// their confidence, each with the curve of the receipts of all other shops.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	data, path := os.Getenv("RECEIPTS_DATA"), os.Getenv("RECEIPTS_SCORES")
	if path == "" {
		t.Skip("RECEIPTS_SCORES is not set")
	}
	manifest, err := os.ReadFile(filepath.Join(data, "manifest.jsonl"))
	require.NoError(t, err)
	r := neuralReader(t)
	// By field and shop.
	results := map[string]map[string][]calibration.Result{}
	for line := range bytes.Lines(manifest) {
		var label labeledReceipt
		require.NoError(t, json.Unmarshal(line, &label))
		file, err := os.ReadFile(filepath.Join(data, label.Image))
		require.NoError(t, err)
		words := savedWords(t, r, file)
		for field, result := range label.results(words.read().Receipt) {
			if results[field] == nil {
				results[field] = map[string][]calibration.Result{}
			}
			shop := strings.ToLower(label.Company)
			results[field][shop] = append(results[field][shop], result)
		}
	}
	var out strings.Builder
	out.WriteString("# Written by make calibrate-receipts: scores of the rules and confidences.\n")
	for _, field := range slices.Sorted(maps.Keys(results)) {
		curve := calibration.Fit(slices.Concat(slices.Collect(maps.Values(results[field]))...))
		fmt.Fprintf(&out, "%s: %s\n", field, curve)
		t.Logf("%s: %s", field, reliability(results[field]))
	}
	require.NoError(t, os.WriteFile(path, []byte(out.String()), 0o600))
}

// reliability counts the right values of each range of confidences, leaving one shop out.
func reliability(shops map[string][]calibration.Result) string {
	var right, all [4]int
	for shop, results := range shops {
		others := maps.Clone(shops)
		delete(others, shop)
		curve := calibration.Fit(slices.Concat(slices.Collect(maps.Values(others))...))
		for _, r := range results {
			confidence, i := curve.At(r.Score), 0
			for _, limit := range []float64{0.95, 0.9, 0.7} {
				if confidence < limit {
					i++
				}
			}
			all[i]++
			if r.Right {
				right[i]++
			}
		}
	}
	return fmt.Sprintf("right of all from 0.95, 0.9, 0.7 and 0: %v of %v", right, all)
}
