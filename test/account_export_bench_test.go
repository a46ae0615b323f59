package test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/clients/go/archive"
	"github.com/coffer-budget/coffer/services/ledger/ledgertest"
)

// BenchmarkExportAccount exports 100 000 transactions and 200 attachments of 256 KiB, and reports
// the additional memory of the whole stack, which runs in this process. docs/benchmarks.md has its
// command.
func BenchmarkExportAccount(b *testing.B) {
	me := newUser(b)
	id := uuid.MustParse(me.get("/api/v1/auth/me").text("user.id"))
	// The role of the ledger may not create the temporary table of Fill.
	conn, err := pgx.Connect(b.Context(), stack.Databases[""])
	require.NoError(b, err)
	_, err = conn.Exec(b.Context(), `SET search_path = ledger`)
	require.NoError(b, err)
	require.NoError(b, ledgertest.Fill(b.Context(), conn, time.Now(),
		ledgertest.Owner{ID: id, Transactions: 100_000, Years: 10}))
	require.NoError(b, conn.Close(b.Context()))
	wallet, category := me.wallet("EUR", "0"), me.category("Attached")
	for i := range 200 {
		content := "%PDF-1.4 " + strings.Repeat(fmt.Sprint(i, " "), 200_000)
		me.attach(me.spend(wallet, category, "1"), "file.pdf", content[:256<<10]).
			created("ATTACHMENT_CREATED")
	}
	file, err := os.Create(b.TempDir() + "/archive.zip")
	require.NoError(b, err)
	runtime.GC()
	before := heapBytes()
	var most uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, heapBytes())
			}
		}
	}()
	for b.Loop() {
		me.downloadTo(b, file)
	}
	close(stop)
	<-stopped
	b.ReportMetric(float64(int64(most)-int64(before))/(1<<20), "MiB-additional")
	size, err := file.Seek(0, io.SeekEnd)
	require.NoError(b, err)
	b.ReportMetric(float64(size)/(1<<20), "MiB-archive")
	_, err = archive.Open(file, size)
	require.NoError(b, err)
	require.NoError(b, file.Close())
}

// downloadTo writes the archive of the account to a file.
func (u *user) downloadTo(b *testing.B, file *os.File) {
	b.Helper()
	require.NoError(b, file.Truncate(0))
	_, err := file.Seek(0, io.SeekStart)
	require.NoError(b, err)
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, baseURL+accountExport, nil)
	require.NoError(b, err)
	req.Header.Set("Authorization", "Bearer "+u.token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(b, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(b, http.StatusOK, resp.StatusCode)
	_, err = io.Copy(file, resp.Body)
	require.NoError(b, err)
}

// heapBytes returns the memory of the objects that the collector has not freed.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
