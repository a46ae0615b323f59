package recognition

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// TestBenchRules applies the rules of package receipt to the words of labeled receipts. The engines
// read each file once, and the words are saved in RECEIPTS_WORDS, so that a change of the rules is
// measured in seconds. It writes the results to RECEIPTS_OUT for the folder's score program. It
// runs only if RECEIPTS_DATA names a folder whose manifest.jsonl has an object with image on each
// line.
//
// It also counts the files that receipt.Split divides, and how it divides the words of two receipts
// on a page. The service would read a receipt without a total again with Tesseract alone.
func TestBenchRules(t *testing.T) {
	t.Parallel()
	data := os.Getenv("RECEIPTS_DATA")
	if data == "" {
		t.Skip("RECEIPTS_DATA is not set")
	}
	manifest, err := os.ReadFile(filepath.Join(data, "manifest.jsonl"))
	require.NoError(t, err)
	r := neuralReader(t)
	var predictions bytes.Buffer
	named, same, divided := 0, 0, 0
	var single [][]printed.Page
	for line := range bytes.Lines(manifest) {
		var label struct{ Image, Company string }
		require.NoError(t, json.Unmarshal(line, &label))
		file, err := os.ReadFile(filepath.Join(data, label.Image))
		require.NoError(t, err)
		words := savedWords(t, r, file)
		read := words.read()
		found := read.Receipt
		if len(read.Others) > 0 {
			divided++
		}
		if label.Company != "" {
			named++
		}
		if fixture.SameName(found.Merchant, label.Company) {
			same++
		}
		if pages := words.First; len(pages) == 1 {
			single = append(single, pages)
		}
		text, err := json.Marshal(prediction(label.Image, found))
		require.NoError(t, err)
		predictions.Write(append(text, '\n'))
	}
	t.Logf("merchant, strict: %d of %d", same, named)
	t.Logf("files that are divided: %d", divided)
	pairs := map[string]int{}
	for i := 1; i < len(single); i++ {
		for name, both := range photographed(single[i-1][0], single[i][0]) {
			pairs[name+" "+divisionOf(both, single[i-1], single[i])]++
		}
	}
	t.Logf("two receipts on a page: %v", pairs)
	require.NoError(t, os.WriteFile(os.Getenv("RECEIPTS_OUT"), predictions.Bytes(), 0o600))
}

// photographed returns pages with the words of two receipts, side by side and below each other.
func photographed(a, b printed.Page) map[string]printed.Page {
	beside, below := a, a
	beside.Width, below.Height = a.Width+b.Width, a.Height+b.Height
	for _, w := range b.Words {
		right, low := w, w
		right.Box.X, low.Box.Y = w.Box.X+a.Width, w.Box.Y+a.Height
		beside.Words = append(slices.Clone(beside.Words), right)
		below.Words = append(slices.Clone(below.Words), low)
	}
	return map[string]printed.Page{"beside": beside, "below": below}
}

// divisionOf returns how receipt.Split divides a page with two receipts: "right" if each part has
// the total that its receipt has alone, "not" if it does not divide the page, and otherwise
// "wrong".
func divisionOf(both printed.Page, alone ...[]printed.Page) string {
	parts := receipt.Split([]printed.Page{both})
	now := time.Now()
	isSame := func(part [][]printed.Page, alone []printed.Page) bool {
		return receipt.Join(now, receipt.Read(part[0])).Total ==
			receipt.Join(now, receipt.Read(alone)).Total
	}
	switch {
	case len(parts) == 1:
		return "not"
	case slices.EqualFunc(parts, alone, isSame):
		return "right"
	}
	return "wrong"
}

// readWords holds the words in a file: its text, or those of the networks and of Tesseract.
type readWords struct{ Text, First, Second []printed.Page }

func savedWords(t *testing.T, r Reader, file []byte) readWords {
	t.Helper()
	digest := sha256.Sum256(file)
	path := filepath.Join(os.Getenv("RECEIPTS_WORDS"), hex.EncodeToString(digest[:])+".json")
	var words readWords
	text, err := os.ReadFile(path)
	if err == nil {
		require.NoError(t, json.Unmarshal(text, &words))
		return words
	}
	require.ErrorIs(t, err, fs.ErrNotExist)
	words, err = r.words(t.Context(), file)
	require.NoError(t, err)
	text, err = json.Marshal(words)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return words
}

// words reads a file with both engines.
func (r Reader) words(ctx context.Context, file []byte) (readWords, error) {
	document, err := r.opener.Open(ctx, file)
	if err != nil || document.Text != nil {
		return readWords{Text: document.Text}, err
	}
	engine := r.engine.(neuralEngine)
	sheets := imaging.NewSheets(document.Images)
	out, first, err := engine.firstPass(ctx, sheets)
	if err != nil || out.Failure != nil {
		return readWords{}, errors.Join(err, out.Failure)
	}
	second, err := engine.witness(ctx, sheets, out.pages, first)
	return readWords{First: first, Second: second}, err
}

func (w readWords) read() (found Reading) {
	now := time.Now()
	if w.Text != nil {
		found.setReceipts(now, w.Text)
		return found
	}
	found.setReceipts(now, w.First)
	if found.needsWitness(w.First) {
		found.joinBoth(now, w.First, w.Second)
	}
	return found
}

// prediction returns the input of the score program.
func prediction(name string, found receipt.Receipt) map[string]any {
	if !found.Legible {
		return map[string]any{"image": name, "error": "OCR_PARSE_FAILED"}
	}
	var items []map[string]string
	for _, it := range found.Items {
		items = append(items, map[string]string{"name": it.Description, "amount": it.Amount})
	}
	return map[string]any{
		"image": name, "total": found.Total, "date": found.Date, "company": found.Merchant,
		"currency": found.Currency, "items": items, "confidence": found.Confidence,
		"warnings": found.Warnings,
	}
}
