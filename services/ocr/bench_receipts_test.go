package ocr

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

// TestBenchReceipts has the service read a folder of labelled receipts, writes what it answered to RECEIPTS_OUT for the
// folder's score program, and tells how long it took and whether confidence is deserved. It runs when RECEIPTS_DATA names a
// folder whose manifest.jsonl has an object with image and total on each line. RECEIPTS_AT_ONCE=1 is how many are read at a
// time, RECEIPTS_TESSERACT another engine.
func TestBenchReceipts(t *testing.T) {
	t.Parallel()
	data := os.Getenv("RECEIPTS_DATA")
	if data == "" {
		t.Skip("RECEIPTS_DATA is not set")
	}
	manifest, err := os.ReadFile(filepath.Join(data, "manifest.jsonl"))
	require.NoError(t, err)
	s := newTestServer(t, Config{Tesseract: os.Getenv("RECEIPTS_TESSERACT"), Queue: 1 << 20})
	atOnce, _ := strconv.Atoi(os.Getenv("RECEIPTS_AT_ONCE"))
	places := make(chan struct{}, max(atOnce, 1))
	var b bench
	var reading sync.WaitGroup
	for line := range bytes.Lines(manifest) {
		var label struct{ Image, Total string }
		require.NoError(t, json.Unmarshal(line, &label))
		file, err := os.ReadFile(filepath.Join(data, label.Image))
		require.NoError(t, err)
		places <- struct{}{}
		reading.Go(func() {
			b.add(label.Image, label.Total, recognised(t, s, file))
			<-places
		})
	}
	reading.Wait()
	require.NoError(t, os.WriteFile(os.Getenv("RECEIPTS_OUT"), b.predictions.Bytes(), 0o600))
	t.Logf("%d receipts; median %.2f s, of processor time %.2f s; total told with a confidence of 0.9: %d, right of them: %d",
		len(b.seconds), median(b.seconds), median(b.cpu), b.sure, b.right)
}

// bench collects what was read.
type bench struct {
	mu           sync.Mutex
	predictions  bytes.Buffer
	seconds, cpu []float64
	sure, right  int
}

// prediction is what the score program reads.
type prediction struct {
	Image      string              `json:"image"`
	Total      string              `json:"total"`
	Date       string              `json:"date"`
	Company    string              `json:"company"`
	Currency   string              `json:"currency"`
	Items      []map[string]string `json:"items"`
	Confidence map[string]float64  `json:"confidence"`
	Warnings   []string            `json:"warnings"`
	Error      string              `json:"error,omitempty"`
	Seconds    float64             `json:"seconds"`
	cpu        float64
}

func (b *bench) add(image, total string, p prediction) {
	p.Image = image
	text, _ := json.Marshal(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.predictions.Write(append(text, '\n'))
	b.seconds, b.cpu = append(b.seconds, p.Seconds), append(b.cpu, p.cpu)
	if p.Confidence["total"] >= 0.9 && total != "" {
		b.sure++
		if p.Total == total {
			b.right++
		}
	}
}

func recognised(t *testing.T, s *server, file []byte) prediction {
	t.Helper()
	start, before := time.Now(), processorTime()
	resp, err := s.Recognize(t.Context(), &ocrv1.RecognizeRequest{File: file, UserId: uuid.NewString()})
	p := prediction{Seconds: time.Since(start).Seconds(), cpu: processorTime() - before}
	if err != nil {
		p.Error = apierr.From(err).Reason
		return p
	}
	r := resp.GetReceipt()
	p.Total, p.Date, p.Company, p.Currency, p.Confidence = r.GetTotal(), r.GetDate(), r.GetMerchant(), r.GetCurrency(), r.GetConfidence()
	for _, l := range r.GetLines() {
		p.Items = append(p.Items, map[string]string{"name": l.GetDescription(), "amount": l.GetAmount()})
	}
	for _, w := range r.GetWarnings() {
		p.Warnings = append(p.Warnings, w.GetCode())
	}
	return p
}

// processorTime is what this process and the programs that it ran have used, in seconds.
func processorTime() float64 {
	sum := 0.0
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
		}
	}
	return sum
}

func newTestReader() reader {
	config := Config{Tesseract: "tesseract", Timeout: time.Minute}
	return reader{opener: newOpener(config), engine: local{engine: newTesseract(config), now: time.Now}, now: time.Now}
}
