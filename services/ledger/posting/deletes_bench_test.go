package posting_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// BenchmarkDeleteTransaction compares the statement that deletes a transaction without parts with
// and without the trigger that corrects totals after the deletion of parts. It runs once for each
// statement, also if there were no parts.
func BenchmarkDeleteTransaction(b *testing.B) {
	with, owner, id := deletable(b)
	without, otherOwner, otherID := deletable(b)
	_, err := without.Exec(b.Context(),
		`ALTER TABLE splits DISABLE TRIGGER splits_correct_deleted`)
	require.NoError(b, err)
	var times [2][]time.Duration
	for b.Loop() {
		times[0] = append(times[0], deleteOnce(b, with, owner, id))
		times[1] = append(times[1], deleteOnce(b, without, otherOwner, otherID))
	}
	for i, name := range []string{"with-ns/op", "without-ns/op"} {
		slices.Sort(times[i])
		b.ReportMetric(float64(times[i][len(times[i])/2]), name)
	}
}

// deletable returns a database transaction on a separate database, and the ids of an owner and of a
// transaction of them.
func deletable(b *testing.B) (tx pgx.Tx, owner, id uuid.UUID) {
	b.Helper()
	s := setup(b)
	u := s.NewUser(b.Context(), b)
	stored := []posting.Transaction{{
		WalletID: u.Wallet, CategoryID: &u.Category, AmountMinor: -100, Currency: "EUR",
		Date: fixture.Today,
	}}
	s.Record(u.Ctx, b, stored...)
	tx, err := s.DB.Begin(b.Context())
	require.NoError(b, err)
	b.Cleanup(func() { _ = tx.Rollback(u.Ctx) })
	return tx, u.ID, stored[0].ID
}

// deleteOnce deletes a transaction, restores it, and returns the time of the deletion.
func deleteOnce(b *testing.B, tx pgx.Tx, owner, id uuid.UUID) time.Duration {
	b.Helper()
	deletion, err := tx.Begin(b.Context())
	require.NoError(b, err)
	begin := time.Now()
	tag, err := deletion.Exec(b.Context(),
		`DELETE FROM transactions WHERE owner_id = $1 AND id = $2`, owner, id)
	took := time.Since(begin)
	require.NoError(b, err)
	require.EqualValues(b, 1, tag.RowsAffected())
	require.NoError(b, deletion.Rollback(b.Context()))
	return took
}
