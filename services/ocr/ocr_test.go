package ocr

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/rpc"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ocr/fixture"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
	"github.com/coffer-budget/coffer/services/ocr/recognition"
	"github.com/coffer-budget/coffer/services/ocr/worker"
)

func newTestServer(t testing.TB, engines recognition.Config) *server {
	t.Helper()
	if engines.Tesseract == "" {
		engines.Tesseract = "tesseract"
	}
	engines.Timeout = time.Minute
	log := slog.New(slog.DiscardHandler)
	s, err := newServer(Config{Engines: engines}, pgtest.New(t, Migrations), log)
	require.NoError(t, err)
	return s
}

// request returns the request of a new user.
func request(file []byte) *ocrv1.RecognizeRequest {
	return &ocrv1.RecognizeRequest{File: file, UserId: uuid.NewString()}
}

// storedVersions returns the versions of the stored results.
func storedVersions(t *testing.T, s *server) []int {
	t.Helper()
	rows, err := s.db.Query(t.Context(), `SELECT recogniser FROM results ORDER BY recogniser`)
	require.NoError(t, err)
	versions, err := pgx.CollectRows(rows, pgx.RowTo[int])
	require.NoError(t, err)
	return versions
}

func TestRecognizeReturnsFieldsConfidenceAndEvidence(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, recognition.Config{})
	text, _ := fixture.GoldenText(t, "en_us")
	resp, err := s.Recognize(t.Context(), request([]byte(text)))
	require.NoError(t, err)
	recognized := resp.GetReceipt()
	require.Equal(t, "40.91", recognized.GetTotal())
	require.Equal(t, "2.66", recognized.GetTax())
	require.Equal(t, "5.00", recognized.GetTip())
	require.Equal(t, "USD", recognized.GetCurrency())
	require.Len(t, recognized.GetLines(), 4)
	require.Equal(t, "Clam Chowder", recognized.GetLines()[0].GetDescription())
	require.Contains(t, recognized.GetConfidence(), "total")
	for _, e := range recognized.GetEvidence() {
		require.Nil(t, e.GetBox(), "plain text has no pixels")
	}
}

func TestRecognizeReadsSameFileOnce(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, recognition.Config{})
	text, _ := fixture.GoldenText(t, "de")
	req := request([]byte(text))
	first, err := srv.Recognize(t.Context(), req)
	require.NoError(t, err)

	srv.gate = rpc.NewGate(1, 0, errBusy)
	leave, err := srv.gate.Enter(t.Context())
	require.NoError(t, err)
	defer leave()
	again, err := srv.Recognize(t.Context(), req)
	require.NoError(t, err, "stored, so no worker is needed")
	require.True(t, proto.Equal(first, again))

	_, err = srv.Recognize(t.Context(), request(req.GetFile()))
	require.ErrorIs(t, err, errBusy, "results are stored per user")
	require.Equal(t, errBusy.RetryAfter, apierr.From(err).RetryAfter)
}

func TestDeleteResultsAfterRetention(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, recognition.Config{})
	text, _ := fixture.GoldenText(t, "de")
	req := request([]byte(text))
	_, err := s.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.NoError(t, deleteResults(t.Context(), s.db, time.Now().Add(-time.Hour)))
	require.Len(t, storedVersions(t, s), 1)
	require.NoError(t, deleteResults(t.Context(), s.db, time.Now().Add(time.Hour)))
	require.Empty(t, storedVersions(t, s))
}

func TestRecognizeIgnoresDamagedResult(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, recognition.Config{})
	text, _ := fixture.GoldenText(t, "de")
	req := request([]byte(text))
	first, err := srv.Recognize(t.Context(), req)
	require.NoError(t, err)
	pgtest.Exec(t, srv.db, `UPDATE results SET receipt = 'no receipt'`)
	again, err := srv.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.True(t, proto.Equal(first, again))
}

func TestRecognizeStoresNoFailure(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, recognition.Config{Tesseract: fixture.Program(t, "exit 3")})
	req := request(fixture.Small(t))
	_, err := s.Recognize(t.Context(), req)
	require.ErrorIs(t, err, recognition.ErrResponse)
	s.reader, err = worker.New(recognition.Config{Tesseract: "tesseract", Timeout: time.Minute})
	require.NoError(t, err)
	resp, err := s.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "12.50", resp.GetReceipt().GetTotal())
}

func TestRecognizeRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, recognition.Config{})
	for want, req := range map[*apierr.Error]*ocrv1.RecognizeRequest{
		errFile:              {UserId: uuid.NewString()},
		errUserID:            {File: []byte("Total 1.00"), UserId: "me"},
		errTooLarge:          {File: make([]byte, rpc.MaxFile+1), UserId: uuid.NewString()},
		recognition.ErrParse: {File: []byte("nothing to see here"), UserId: uuid.NewString()},
	} {
		_, err := srv.Recognize(t.Context(), req)
		require.ErrorIs(t, err, want)
	}
}

func TestRecognizeStoresNoPartialReading(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, nil, 0o600))
	script := `case "$*" in *"--psm 6"*) test -e ` + broken + ` && kill -SEGV $$;; esac; ` +
		`exec tesseract "$@"`
	s := newTestServer(t, recognition.Config{Tesseract: fixture.Program(t, script)})
	req := request(fixture.Small(t))
	_, err := s.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.Empty(t, storedVersions(t, s))
	require.NoError(t, os.Remove(broken))
	_, err = s.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.Len(t, storedVersions(t, s), 1)
}

func TestRecognizeStoresNoFallback(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		calls.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(endpoint.Close)
	vision := recognition.VisionConfig{
		URL: endpoint.URL + "/v1", Model: "reader-1", Timeout: 2 * time.Second, Fallback: true,
	}
	s := newTestServer(t, recognition.Config{Vision: vision})
	text, want := fixture.GoldenText(t, "en_us")
	req := request(fixture.JPEG(t, fixture.Printed(t, text, 26)))
	for n := range 2 {
		resp, err := s.Recognize(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, want.Total, resp.GetReceipt().GetTotal())
		require.Equal(t, int32(n+1), calls.Load(), "a fallback result is not stored")
	}
}

func TestEraseUser(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, recognition.Config{})
	text, _ := fixture.GoldenText(t, "en_us")
	mine, other := request([]byte(text)), request([]byte(text))
	other.UserId = uuid.NewString()
	for _, req := range []*ocrv1.RecognizeRequest{mine, other} {
		_, err := s.Recognize(t.Context(), req)
		require.NoError(t, err)
	}
	for range 2 {
		_, err := s.EraseUser(t.Context(), &ocrv1.EraseUserRequest{UserId: mine.GetUserId()})
		require.NoError(t, err)
		left, err := pg.Values[string](t.Context(), s.db, `SELECT user_id::text FROM results`)
		require.NoError(t, err)
		require.Equal(t, []string{other.GetUserId()}, left)
	}
	_, err := s.EraseUser(t.Context(), &ocrv1.EraseUserRequest{UserId: "everybody"})
	require.ErrorIs(t, err, errUserID)
}

// TestRecognizeStoresTesseractUntilNeuralEngineIsBack uses the installed neural engine. At first it
// cannot start.
func TestRecognizeStoresTesseractUntilNeuralEngineIsBack(t *testing.T) {
	t.Parallel()
	installed := os.Getenv("OCR_NEURAL")
	program := filepath.Join(installed, process.Program)
	if _, err := os.Stat(program); err != nil {
		t.Skip(err)
	}
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, nil, 0o600))
	script := "[ -e " + broken + " ] && exit 1\nexec " + program + " " + installed
	dir := fixture.Neural(t, process.Program, script)
	srv := newTestServer(t, recognition.Config{Neural: dir})
	t.Cleanup(srv.reader.Neural().Stop)
	user := uuid.NewString()
	receipt := func(total string) *ocrv1.RecognizeRequest {
		text := "CORNER SHOP\nBread " + total + "\nTotal " + total
		file := fixture.JPEG(t, fixture.Printed(t, text, 30))
		return &ocrv1.RecognizeRequest{File: file, UserId: user}
	}
	first, err := srv.Recognize(t.Context(), receipt("12.50"))
	require.NoError(t, err)
	require.Equal(t, "12.50", first.GetReceipt().GetTotal())
	require.Equal(t, []int{recognizerLocal}, storedVersions(t, srv))

	gate := srv.gate
	srv.gate = rpc.NewGate(1, 0, errBusy)
	leave, err := srv.gate.Enter(t.Context())
	require.NoError(t, err)
	again, err := srv.Recognize(t.Context(), receipt("12.50"))
	require.NoError(t, err, "stored, so no worker is needed")
	require.True(t, proto.Equal(first, again))
	leave()
	srv.gate = gate

	require.NoError(t, os.Remove(broken))
	// The next receipt shows that the engine is back.
	_, err = srv.Recognize(t.Context(), receipt("3.75"))
	require.NoError(t, err)
	require.Equal(t, []int{recognizerLocal, recognizerNeural}, storedVersions(t, srv))
	_, err = srv.Recognize(t.Context(), receipt("12.50"))
	require.NoError(t, err)
	require.Equal(t, []int{recognizerLocal, recognizerNeural, recognizerNeural},
		storedVersions(t, srv))
}
