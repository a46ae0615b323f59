package files_test

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/files/filestest"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"s3://host/bucket", "s3://host:9000/bucket?region=eu-central-1",
		"s3://host/bucket?http=true&readonly=true",
	} {
		store, err := files.Open(url, nil)
		require.NoError(t, err, url)
		require.NotNil(t, store)
	}
	for _, url := range []string{
		"s3://host", "s3://host/", "s3:///bucket", "s3://host/bucket/prefix", "https://host/bucket",
		"s3://key:secret@host/bucket", "s3://host/bucket?tls=false", "s3://host/bucket?http=1",
		"s3://host/bucket?region=", "s3://host/bucket?region=a&region=b", "s3://host/bucket#a",
		"s3://host/%", "bucket",
	} {
		_, err := files.Open(url, nil)
		require.ErrorContains(t, err, "FILES_URL must be s3://HOST/BUCKET", url)
		require.NotContains(t, err.Error(), "key:secret")
	}
	store, err := files.Open("", nil)
	require.NoError(t, err)
	require.Nil(t, store)
	_, err = store.Read(t.Context(), files.Object{})
	require.ErrorContains(t, err, "FILES_URL is not set")
}

// TestStoreUnavailable uses addresses without an S3 server: nothing listens, the server never
// answers, or its certificate is not signed by a known authority.
func TestStoreUnavailable(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	var requests atomic.Int64
	unknown := httptest.NewUnstartedServer(http.HandlerFunc(
		func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	unknown.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	unknown.StartTLS()
	t.Cleanup(unknown.Close)
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	for name, url := range map[string]string{
		"closed": filestest.URL(closed.Addr().String(), ""),
		"silent": filestest.URL(silent.Addr().String(), ""),
		"unknown authority": "s3://" + strings.TrimPrefix(unknown.URL, "https://") +
			"/coffer-files",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t, url)
			store.Wait(200 * time.Millisecond)
			s := setup(t, store)
			p := newPerson(t, s)
			begin := time.Now()
			_, err := store.Read(t.Context(), files.Object{ID: uuid.New(), Size: 1})
			require.ErrorIs(t, err, apierr.Unavailable)
			require.Less(t, time.Since(begin), 20*time.Second)

			p.attach(t, 1000)
			p.keep(t, 1000)
			if name != "silent" { // A write has a minute.
				_, _, err = store.ToStore(t.Context(), s.DB)
				require.ErrorIs(t, err, apierr.Unavailable)
			}
			p.requireWhole(t)
			require.Zero(t, s.stored(t))
			require.Zero(t, requests.Load())
		})
	}
}
