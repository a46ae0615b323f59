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

// BenchmarkImport uploads, commits and undoes a file of 100 000 rows, or as many as IMPORT_ROWS
// says. It reports the time and the memory of each step.
func BenchmarkImport(b *testing.B) {
	n := rowsFromEnv(b, 100_000)
	file := largeStatement(n)
	step := func(name string, f func()) {
		start := time.Now()
		heap := heapOf(f)
		b.ReportMetric(time.Since(start).Seconds(), name+"-s")
		b.ReportMetric(float64(heap)/(1<<20), name+"-MiB")
	}
	for b.Loop() {
		s := setup(b)
		p := newPerson(b, s)
		var m *ledgerv1.Import
		step("upload", func() {
			resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()}, file)
			require.NoError(b, err)
			m = resp.GetImport()
		})
		step("update", func() {
			_, err := p.UpdateImport(p.Ctx,
				&ledgerv1.UpdateImportRequest{Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{
					WalletId: new(p.Wallet.String()), ExpenseCategoryId: new(p.Category.String()),
				}})
			require.NoError(b, err)
			m = p.finish(b, m)
		})
		step("commit", func() { m = p.commit(b, m) })
		require.EqualValues(b, n, m.GetCounts().GetBooked())
		step("undo", func() { m = p.undo(b, m, false) })
		s.RequireConsistent(b)
	}
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
