package imports

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// largeStatement returns a CSV file with n rows of five years.
func largeStatement(n int) string {
	var b strings.Builder
	b.WriteString("Date;Payee;Description;Amount;Currency\n")
	for i := range n {
		at := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i*1800/n)
		fmt.Fprintf(&b, "%s;Shop %d;Purchase %d;-%d,%02d;EUR\n",
			at.Format("02.01.2006"), i%60, i, 1+i%90, i%100)
	}
	return b.String()
}

// rowsFromEnv returns the number of rows in the environment variable IMPORT_ROWS, or otherwise n.
func rowsFromEnv(t testing.TB, n int) int {
	t.Helper()
	if s := os.Getenv("IMPORT_ROWS"); s != "" {
		var err error
		n, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	return n
}

// heapOf runs f and returns how much the heap of the process grew beyond its size before, in bytes.
// It samples the heap every few milliseconds.
func heapOf(f func()) int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	before := int64(stats.HeapInuse)
	var stopped atomic.Bool
	highest := make(chan int64)
	go func() {
		most := before
		for !stopped.Load() {
			runtime.ReadMemStats(&stats)
			most = max(most, int64(stats.HeapInuse))
			time.Sleep(5 * time.Millisecond)
		}
		highest <- most
	}()
	f()
	stopped.Store(true)
	return <-highest - before
}

// BenchmarkUpdateImportRows changes one row of a staged file of 100 000 rows, or as many as
// IMPORT_ROWS says.
func BenchmarkUpdateImportRows(b *testing.B) {
	s := setup(b)
	p := newPerson(b, s)
	resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()},
		largeStatement(rowsFromEnv(b, 100_000)))
	require.NoError(b, err)
	actions := []string{"skip", "book"}
	for i := 0; b.Loop(); i++ {
		_, err := p.UpdateImportRows(p.Ctx,
			&ledgerv1.UpdateImportRowsRequest{Id: resp.GetImport().GetId(), Rows: []*rowChange{
				{N: int32(i%100 + 2), Action: &actions[i/100%2]},
			}})
		require.NoError(b, err)
	}
}
