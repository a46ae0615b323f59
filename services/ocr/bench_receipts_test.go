package ocr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
	"github.com/coffer-budget/coffer/services/ocr/recognition"
)

// TestBenchReceipts reads a folder of labeled receipts sequentially. It writes the results to
// RECEIPTS_OUT for the folder's score program, and logs durations and the accuracy of confident
// totals. It runs only if RECEIPTS_DATA names a folder whose manifest.jsonl has an object with
// image and total on each line.
func TestBenchReceipts(t *testing.T) {
	t.Parallel()
	data := os.Getenv("RECEIPTS_DATA")
	if data == "" {
		t.Skip("RECEIPTS_DATA is not set")
	}
	manifest, err := os.ReadFile(filepath.Join(data, "manifest.jsonl"))
	require.NoError(t, err)
	srv := newTestServer(t, recognition.Config{Neural: os.Getenv("OCR_NEURAL")})
	bench := bench{engine: filepath.Join(os.Getenv("OCR_NEURAL"), process.Program)}
	for line := range bytes.Lines(manifest) {
		var label struct{ Image, Total, Company string }
		require.NoError(t, json.Unmarshal(line, &label))
		file, err := os.ReadFile(filepath.Join(data, label.Image))
		require.NoError(t, err)
		read := bench.read(t, srv, label.Image, label.Total, file)
		if label.Company != "" {
			bench.named++
		}
		if fixture.SameName(read.Company, label.Company) {
			bench.same++
		}
	}
	require.NoError(t, os.WriteFile(os.Getenv("RECEIPTS_OUT"), bench.predictions.Bytes(), 0o600))
	t.Log(bench.all.report("all"))
	t.Log(bench.medium.report("of 1 to 2 megapixels"))
	t.Logf("peak memory: ocr %d MiB, neural engine %d MiB",
		fixture.PeakMemory(t, os.Getpid()), bench.memory)
	t.Logf("merchant, strict: %d of %d", bench.same, bench.named)
	t.Logf("totals with a confidence of 0.9: %d, correct: %d", bench.sure, bench.right)
}

// bench collects the results and their durations.
type bench struct {
	predictions bytes.Buffer
	all, medium times
	sure, right int
	// named is the number of receipts with a label of the merchant, and same that of those that
	// were read as fixture.SameName requires.
	named, same int
	// engine is the program of the neural engine, and memory its peak memory in MiB.
	engine string
	memory int
}

// times are durations per receipt in seconds: wall time, and processor time including programs.
type times struct{ wall, cpu []float64 }

func (n *times) add(wall, cpu float64) { n.wall, n.cpu = append(n.wall, wall), append(n.cpu, cpu) }

func (n *times) report(which string) string {
	slices.Sort(n.wall)
	slices.Sort(n.cpu)
	at := func(v []float64, share float64) float64 { return v[int(share*float64(len(v)-1))] }
	if len(n.wall) == 0 {
		return which + ": none"
	}
	return fmt.Sprintf("%d receipts, %s: %.2f s of processor time in the median, "+
		"%.2f s at the 95th percentile; by the clock %.2f s and %.2f s",
		len(n.wall), which, at(n.cpu, 0.5), at(n.cpu, 0.95), at(n.wall, 0.5), at(n.wall, 0.95))
}

// prediction is the input of the score program.
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
}

func (b *bench) read(
	t *testing.T, s *server, name, total string, file []byte,
) prediction {
	t.Helper()
	start, before := time.Now(), b.processorTime(t)
	prediction := recognize(t, s, file)
	wall, cpu := time.Since(start).Seconds(), b.processorTime(t)-before
	b.all.add(wall, cpu)
	if n := pixels(file); n >= 1_000_000 && n <= 2_000_000 {
		b.medium.add(wall, cpu)
	}
	prediction.Image, prediction.Seconds = name, wall
	text, err := json.Marshal(prediction)
	require.NoError(t, err)
	b.predictions.Write(append(text, '\n'))
	if prediction.Confidence["total"] >= 0.9 && total != "" {
		b.sure++
		if prediction.Total == total {
			b.right++
		}
	}
	return prediction
}

// processorTime returns the processor time of this process, its programs and the running neural
// engine, in seconds.
func (b *bench) processorTime(t *testing.T) float64 {
	t.Helper()
	sum := fixture.ProcessorTime()
	if pid := fixture.ProcessOf(t, b.engine); pid != 0 {
		sum += fixture.ProcessorTimeOf(t, pid)
		b.memory = max(b.memory, fixture.PeakMemory(t, pid))
	}
	return sum
}

// pixels returns the number of pixels of an image, or 0 for other files.
func pixels(file []byte) int {
	c, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return 0
	}
	return c.Width * c.Height
}

func recognize(t *testing.T, s *server, file []byte) prediction {
	t.Helper()
	resp, err := s.Recognize(t.Context(), request(file))
	if err != nil {
		return prediction{Error: apierr.From(err).Reason}
	}
	var prediction prediction
	recognized := resp.GetReceipt()
	prediction.Total, prediction.Date = recognized.GetTotal(), recognized.GetDate()
	prediction.Company = recognized.GetMerchant()
	prediction.Currency = recognized.GetCurrency()
	prediction.Confidence = recognized.GetConfidence()
	for _, l := range recognized.GetLines() {
		item := map[string]string{"name": l.GetDescription(), "amount": l.GetAmount()}
		prediction.Items = append(prediction.Items, item)
	}
	for _, w := range recognized.GetWarnings() {
		prediction.Warnings = append(prediction.Warnings, w.GetCode())
	}
	return prediction
}
