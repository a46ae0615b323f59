package ocr

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// TestBenchReceipts reads a folder of labelled receipts, and writes what was read for the folder's score program. It runs
// when RECEIPTS_DATA names a folder with a manifest.jsonl; RECEIPTS_OUT is the file to write, RECEIPTS_EVERY=4 takes every
// fourth.
func TestBenchReceipts(t *testing.T) {
	t.Parallel()
	data := os.Getenv("RECEIPTS_DATA")
	if data == "" {
		t.Skip("RECEIPTS_DATA is not set")
	}
	manifest, err := os.ReadFile(filepath.Join(data, "manifest.jsonl"))
	require.NoError(t, err)
	every, _ := strconv.Atoi(os.Getenv("RECEIPTS_EVERY"))
	r := newTestReader()
	if program := os.Getenv("RECEIPTS_TESSERACT"); program != "" {
		r.engine = local{engine: newTesseract(Config{Tesseract: program, Timeout: time.Minute}), now: time.Now}
	}
	var mu sync.Mutex
	var out bytes.Buffer
	var wg sync.WaitGroup
	two := make(chan struct{}, 2)
	for i, line := range bytes.Split(bytes.TrimSpace(manifest), []byte("\n")) {
		if every > 1 && i%every != 0 {
			continue
		}
		var e struct{ Image string }
		require.NoError(t, json.Unmarshal(line, &e))
		two <- struct{}{}
		wg.Go(func() {
			defer func() { <-two }()
			file, err := os.ReadFile(filepath.Join(data, e.Image))
			if err != nil {
				t.Error(err)
				return
			}
			p := predict(t, r, file)
			p["image"] = e.Image
			text, _ := json.Marshal(p)
			mu.Lock()
			defer mu.Unlock()
			out.Write(append(text, '\n'))
		})
	}
	wg.Wait()
	require.NoError(t, os.WriteFile(os.Getenv("RECEIPTS_OUT"), out.Bytes(), 0o600))
}

func predict(t *testing.T, r reader, file []byte) map[string]any {
	t.Helper()
	start := time.Now()
	read, err := r.read(t.Context(), file)
	p := map[string]any{"seconds": time.Since(start).Seconds()}
	if err != nil {
		p["error"] = apierr.From(err).Reason
		return p
	}
	var items []map[string]string
	for _, it := range read.Items {
		items = append(items, map[string]string{"name": it.Description, "amount": it.Amount})
	}
	p["total"], p["date"], p["company"], p["currency"] = read.Total, read.Date, read.Merchant, read.Currency
	p["items"], p["confidence"], p["warnings"] = items, read.Confidence, read.Warnings
	return p
}

func newTestReader() reader {
	config := Config{Tesseract: "tesseract", Timeout: 20 * time.Second}
	return reader{opener: newOpener(config), engine: local{engine: newTesseract(config), now: time.Now}, now: time.Now}
}
