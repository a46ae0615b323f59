package ocr

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/rpc"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

func newTestServer(t *testing.T, config Config) *server {
	t.Helper()
	if config.Tesseract == "" {
		config.Tesseract = "tesseract"
	}
	config.Timeout = 20 * time.Second
	s, err := newServer(config, pgtest.New(t, Migrations), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return s
}

func TestRecognizeReturnsFieldsConfidenceAndEvidence(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Config{})
	text, _ := goldenText(t, "en_us")
	resp, err := s.Recognize(t.Context(), &ocrv1.RecognizeRequest{File: []byte(text), UserId: uuid.NewString()})
	require.NoError(t, err)
	r := resp.GetReceipt()
	require.Equal(t, "40.91", r.GetTotal())
	require.Equal(t, "2.66", r.GetTax())
	require.Equal(t, "5.00", r.GetTip())
	require.Equal(t, "USD", r.GetCurrency())
	require.Len(t, r.GetLines(), 4)
	require.Equal(t, "Clam Chowder", r.GetLines()[0].GetDescription())
	require.Contains(t, r.GetConfidence(), "total")
	for _, e := range r.GetEvidence() {
		require.Nil(t, e.GetBox(), "plain text has no pixels")
	}
}

func TestRecognizeReadsSameFileOnce(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Config{})
	text, _ := goldenText(t, "de")
	req := &ocrv1.RecognizeRequest{File: []byte(text), UserId: uuid.NewString()}
	first, err := s.Recognize(t.Context(), req)
	require.NoError(t, err)

	s.gate = rpc.NewGate(1, 0, errBusy)
	leave, err := s.gate.Enter(t.Context())
	require.NoError(t, err)
	defer leave()
	again, err := s.Recognize(t.Context(), req)
	require.NoError(t, err, "stored, so no worker is needed")
	require.True(t, proto.Equal(first, again))

	_, err = s.Recognize(t.Context(), &ocrv1.RecognizeRequest{File: req.GetFile(), UserId: uuid.NewString()})
	require.ErrorIs(t, err, errBusy, "results are stored per user")
	require.Equal(t, errBusy.RetryAfter, apierr.From(err).RetryAfter)
}

func TestDeleteResultsAfterRetention(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Config{})
	text, _ := goldenText(t, "de")
	req := &ocrv1.RecognizeRequest{File: []byte(text), UserId: uuid.NewString()}
	_, err := s.Recognize(t.Context(), req)
	require.NoError(t, err)
	stored := func() (n int) {
		require.NoError(t, s.db.QueryRow(t.Context(), `SELECT count(*) FROM results`).Scan(&n))
		return n
	}
	require.NoError(t, deleteResults(t.Context(), s.db, time.Now().Add(-time.Hour)))
	require.Equal(t, 1, stored())
	require.NoError(t, deleteResults(t.Context(), s.db, time.Now().Add(time.Hour)))
	require.Zero(t, stored())
}

func TestRecognizeIgnoresDamagedResult(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Config{})
	text, _ := goldenText(t, "de")
	req := &ocrv1.RecognizeRequest{File: []byte(text), UserId: uuid.NewString()}
	first, err := s.Recognize(t.Context(), req)
	require.NoError(t, err)
	_, err = s.db.Exec(t.Context(), `UPDATE results SET receipt = 'no receipt'`)
	require.NoError(t, err)
	again, err := s.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.True(t, proto.Equal(first, again))
}

func TestRecognizeStoresNoFailure(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Config{Tesseract: program(t, "exit 3")})
	req := &ocrv1.RecognizeRequest{File: asJPEG(t, printed(t, "CORNER SHOP\nTotal 12.50", 30)), UserId: uuid.NewString()}
	_, err := s.Recognize(t.Context(), req)
	require.ErrorIs(t, err, errResponse)
	s.reader = newTestReader()
	resp, err := s.Recognize(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "12.50", resp.GetReceipt().GetTotal())
}

func TestRecognizeRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Config{})
	for want, req := range map[*apierr.Error]*ocrv1.RecognizeRequest{
		errFile:     {UserId: uuid.NewString()},
		errUserID:   {File: []byte("Total 1.00"), UserId: "me"},
		errTooLarge: {File: make([]byte, rpc.MaxFile+1), UserId: uuid.NewString()},
		errParse:    {File: []byte("nothing to see here"), UserId: uuid.NewString()},
	} {
		_, err := s.Recognize(t.Context(), req)
		require.ErrorIs(t, err, want)
	}
}

func TestRecognizeLeavesNoFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	_, err := newTestReader().read(t.Context(), asJPEG(t, printed(t, "CORNER SHOP\nTotal 12.50", 30)))
	require.NoError(t, err)
	_, err = newTestReader().read(t.Context(), []byte(strings.Repeat("%PDF-1.4 ", 100)))
	require.ErrorIs(t, err, errParse)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
