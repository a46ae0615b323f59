package imports

import (
	"fmt"
	"strings"
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
		fmt.Fprintf(&b, "%s;Shop %d;Purchase %d;-%d,%02d;EUR\n", at.Format("02.01.2006"), i%60, i, 1+i%90, i%100)
	}
	return b.String()
}

// BenchmarkImport uploads, commits and undoes a file of 100 000 rows.
func BenchmarkImport(b *testing.B) {
	n := 20_000
	file := largeStatement(n)
	for b.Loop() {
		s := setup(b)
		p := newPerson(b, s)
		_, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()}, "Date;Amount\n2026-01-01;1.00\n")
		require.NoError(b, err)
		start := time.Now()
		resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()}, file)
		require.NoError(b, err)
		b.ReportMetric(time.Since(start).Seconds(), "upload-s")
		start = time.Now()
		_, err = p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{Id: resp.GetImport().GetId(), Defaults: &ledgerv1.ImportDefaults{
			WalletId: p.Wallet.String(), ExpenseCategoryId: p.Category.String(),
		}})
		require.NoError(b, err)
		b.ReportMetric(time.Since(start).Seconds(), "update-s")
		start = time.Now()
		m := p.commit(b, resp.GetImport())
		b.ReportMetric(time.Since(start).Seconds(), "commit-s")
		require.EqualValues(b, n, m.GetCounts().GetBooked())
		start = time.Now()
		p.undo(b, m, false)
		b.ReportMetric(time.Since(start).Seconds(), "undo-s")
		s.RequireConsistent(b)
	}
}
