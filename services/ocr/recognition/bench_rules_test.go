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
// The service would read a receipt without a total again with Tesseract alone.
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
	named, same := 0, 0
	for line := range bytes.Lines(manifest) {
		var label struct{ Image, Company string }
		require.NoError(t, json.Unmarshal(line, &label))
		file, err := os.ReadFile(filepath.Join(data, label.Image))
		require.NoError(t, err)
		words := savedWords(t, r, file)
		found := words.receipt()
		if label.Company != "" {
			named++
		}
		if fixture.SameName(found.Merchant, label.Company) {
			same++
		}
		text, err := json.Marshal(prediction(label.Image, found))
		require.NoError(t, err)
		predictions.Write(append(text, '\n'))
	}
	t.Logf("merchant, strict: %d of %d", same, named)
	require.NoError(t, os.WriteFile(os.Getenv("RECEIPTS_OUT"), predictions.Bytes(), 0o600))
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

func (w readWords) receipt() receipt.Receipt {
	now := time.Now()
	if w.Text != nil {
		return receipt.Join(now, receipt.Read(w.Text))
	}
	found := receipt.Join(now, receipt.Read(w.First))
	if needsWitness(found, w.First) {
		found = joinBoth(now, w.First, w.Second)
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
