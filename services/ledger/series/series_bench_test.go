package series

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/ledgertest"
)

// spellings gives the transactions 300 payees.
const spellings = `UPDATE transactions SET payee = 'Payee ' || abs(hashtext(id::text)) % 300`

// BenchmarkGetSeries measures reports of a year, of a user with a thousand transactions in it and
// of one with a hundred thousand.
func BenchmarkGetSeries(b *testing.B) {
	until := fixture.Today.AddDate(0, 0, 16)
	few := uuid.MustParse("01900000-0000-7000-8000-000000000001")
	many := uuid.MustParse("01900000-0000-7000-8000-000000000002")
	owners := []ledgertest.Owner{
		{ID: few, Transactions: 1000, Years: 1}, {ID: many, Transactions: 99_900, Years: 1},
	}
	service := fixture.On(pgtest.NewFilled(b, os.DirFS(".."), pgtest.Rows{
		Version: ledgertest.Version(until, owners...) + spellings,
		Insert: func(ctx context.Context, conn *pgx.Conn) error {
			if err := ledgertest.Fill(ctx, conn, until, owners...); err != nil {
				return err
			}
			if _, err := conn.Exec(ctx, spellings); err != nil {
				return err
			}
			// A report would otherwise also read the pages of the former versions of the rows.
			_, err := conn.Exec(ctx, `VACUUM FULL ANALYZE transactions`)
			return err
		},
	}))
	reports := &Reports{Ledger: service.Ledger, Reads: service.Reads}
	for _, groupBy := range []string{byCategory, byPayee} {
		for _, owner := range owners {
			name := fmt.Sprintf("a year by %s of %d transactions", groupBy, owner.Transactions)
			b.Run(name, func(b *testing.B) {
				ctx := fixture.ActAs(b.Context(), owner.ID)
				req := &wanted{
					From: new("2025-04-01"), To: new("2026-03-31"), GroupBy: &groupBy,
					Currency: new("EUR"),
				}
				for b.Loop() {
					_, err := reports.GetSeries(ctx, req)
					require.NoError(b, err)
				}
			})
		}
	}
}

// BenchmarkGetBalances measures ten years of net worth by month, of a user with a hundred thousand
// transactions: until the end of a month, and until a day within it.
func BenchmarkGetBalances(b *testing.B) {
	until := fixture.Today.AddDate(0, 0, 16)
	owner := ledgertest.Owner{
		ID:           uuid.MustParse("01900000-0000-7000-8000-000000000003"),
		Transactions: 100_000, Years: 10,
	}
	service := fixture.On(pgtest.NewFilled(b, os.DirFS(".."), pgtest.Rows{
		Version: ledgertest.Version(until, owner),
		Insert: func(ctx context.Context, conn *pgx.Conn) error {
			return ledgertest.Fill(ctx, conn, until, owner)
		},
	}))
	reports := &Reports{Ledger: service.Ledger, Reads: service.Reads}
	for _, to := range []string{"2026-03-31", "2026-03-15"} {
		b.Run("ten years until "+to, func(b *testing.B) {
			ctx := fixture.ActAs(b.Context(), owner.ID)
			req := &wantedBalances{From: new("2016-04-01"), To: &to}
			for b.Loop() {
				_, err := reports.GetBalances(ctx, req)
				require.NoError(b, err)
			}
		})
	}
}
