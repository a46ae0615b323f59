package imports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// TestCommitImportPendingWithoutDay books a pending payment whose day is missing on the day of the
// upload. A later file has the same row, and then the booked one.
func TestCommitImportPendingWithoutDay(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const heading = "Date,Payee,Amount,Currency,Reference,Note,Place,Status\n"
	const booked = "2026-02-03,Bakery,-3.50,EUR,1,,,Completed\n"
	p := newPerson(t, s)
	undated := heading + booked + ",Shell 123,-40.00,EUR,,,,Pending\n"
	m := p.mustUpload(t, undated)
	require.EqualValues(t, 1, m.GetCounts().GetPending())
	require.Zero(t, m.GetCounts().GetInvalid())
	row := p.rows(t, m)[1]
	today := m.GetCreatedAt()[:len("2006-01-02")]
	require.Equal(t, today, row.GetDate())
	require.True(t, row.GetDateAssumed())
	require.Contains(t, row.GetProblem(), "assumed")
	require.False(t, p.rows(t, m)[0].GetDateAssumed())
	mapping := m.GetMapping()
	mapping.Invert = true
	m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: mapping})
	require.Equal(t, today, p.rows(t, m)[1].GetDate())
	mapping.Invert = false
	m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: mapping})
	m = p.commit(t, p.book(t, m, staging.Pending))
	require.EqualValues(t, 2, m.GetCounts().GetBooked())
	require.True(t, p.rows(t, m)[1].GetDateAssumed())
	again := p.mustUpload(t, undated+"\n")
	require.EqualValues(t, 2, again.GetCounts().GetDuplicate())
	m = p.mustUpload(t, heading+booked+today+",SHELL STATION,-41.00,EUR,2,,,Completed\n")
	require.EqualValues(t, 1, m.GetCounts().GetMatched())
	p.commit(t, m)
	require.Equal(t, "-44.50", p.balance(t))
	s.RequireConsistent(t)
}

// TestCommitImportReplacesOldPending books a pending payment that is older than thousands of other
// ones.
func TestCommitImportReplacesOldPending(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	_, pending := p.reserved(t)
	pgtest.Exec(t, s.DB, `
		INSERT INTO transactions (owner_id, id, wallet_id, category_id, amount_minor, amount_e4,
			currency, date, description, version, created_at, updated_at, external_id)
		SELECT owner_id, gen_random_uuid(), wallet_id, category_id, -100 * n, -10000 * n,
			currency, date + interval '30 days', description, 1, created_at, created_at,
			'pending:' || n
		FROM transactions, generate_series(1, 5500) AS n
		WHERE id = $1`, pending.ID)
	for _, row := range []string{
		"2026-02-04,Shell 123,-40.00,EUR,", "2026-02-06,Shell,-41.00,EUR,",
	} {
		m := p.mustUpload(t, statusHeading+row+"Completed\n")
		require.Equal(t, staging.Matched, p.rows(t, m)[0].GetStatus(), row)
		require.Equal(t, pending.ID.String(), p.rows(t, m)[0].GetDuplicateOf(), row)
	}
}
