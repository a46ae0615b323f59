package imports

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// ofx returns a statement with a payment per account. All have the same id.
func ofx(accounts ...string) string {
	file := "OFXHEADER:100\n\n<OFX><BANKMSGSRSV1>"
	for i, a := range accounts {
		file += fmt.Sprintf("<STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>%s<ACCTTYPE>CHECKING</BANKACCTFROM><BANKTRANLIST>"+
			"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260210<TRNAMT>-%d.00<FITID>1001<NAME>Shop %d</STMTTRN></BANKTRANLIST></STMTRS></STMTTRNRS>", a, i+1, i+1)
	}
	return file + "</BANKMSGSRSV1></OFX>"
}

func TestCommitImportEqualExternalIDs(t *testing.T) {
	t.Parallel()
	s := setup(t)
	// externalIDs returns the external ids of a user's transactions in the order of their amounts.
	externalIDs := func(t *testing.T, p person) (ids []string) {
		t.Helper()
		rows, err := s.DB.Query(t.Context(),
			`SELECT coalesce(external_id, '') FROM transactions WHERE owner_id = $1 ORDER BY amount_minor DESC`,
			p.ID)
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var id string
			require.NoError(t, rows.Scan(&id))
			ids = append(ids, id)
		}
		return ids
	}
	t.Run("two accounts of a file in one wallet", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.commit(t, p.mustUpload(t, ofx("111", "222", "333")))
		require.Equal(t, staging.Done, m.GetStatus())
		require.EqualValues(t, 3, m.GetCounts().GetBooked())
		require.Equal(t, "-6.00", p.balance(t))
		require.Equal(t, []string{"ofx:1001", "", ""}, externalIDs(t, p))
		m = p.mustUpload(t, ofx("111", "222", "333"))
		require.EqualValues(t, 3, m.GetCounts().GetDuplicate())
		s.RequireConsistent(t)
	})
	t.Run("rows of different chunks", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		const rows = 501 // A chunk has 500.
		accounts := []string{"111"}
		for i := range rows - 1 {
			accounts = append(accounts, fmt.Sprint(1000+i))
		}
		m := p.commit(t, p.mustUpload(t, ofx(accounts...)))
		require.Equal(t, staging.Done, m.GetStatus())
		require.EqualValues(t, rows, m.GetCounts().GetBooked())
		require.Equal(t, "ofx:1001", externalIDs(t, p)[0])
	})
	t.Run("rows that match transactions", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		p.enter(t, "-1", "Shop 1", 10)
		p.enter(t, "-2", "Shop 2", 10)
		m := p.commit(t, p.mustUpload(t, ofx("111", "222", "333")))
		require.Equal(t, staging.Done, m.GetStatus())
		require.EqualValues(t, 2, m.GetCounts().GetMatched())
		require.EqualValues(t, 1, m.GetCounts().GetBooked())
		require.Equal(t, []string{"ofx:1001", "", ""}, externalIDs(t, p))
		require.Equal(t, "-6.00", p.balance(t))
	})
}

func TestRunQueuedFailsAfterAttempts(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, statementFile)
	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	pgtest.Exec(t, s.DB, `
		CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE 'no more transactions'; END $$;
		CREATE TRIGGER reject BEFORE INSERT ON transactions FOR EACH ROW EXECUTE FUNCTION reject()`)
	// The first attempt makes progress: it creates wallets and categories.
	const maxAttempts = 8
	for attempt := range maxAttempts + 1 {
		s.runJobs(t)
		require.Equal(t, staging.Running, p.get(t, m).GetStatus(), attempt)
		pause := pgtest.Value[float64](t, s.DB, `
			UPDATE imports SET leased_until = now() - interval '1 second' WHERE id = $1
			RETURNING extract(epoch
				FROM (SELECT leased_until FROM imports WHERE id = $1) - now())::float8`,
			m.GetId())
		require.Positive(t, pause)
	}
	s.runJobs(t)
	m = p.get(t, m)
	require.Equal(t, staging.Failed, m.GetStatus())
	require.Equal(t, "INTERNAL", m.GetProgress().GetProblem())
	pgtest.Exec(t, s.DB, `DROP TRIGGER reject ON transactions`)
	require.Equal(t, staging.Done, p.commit(t, m).GetStatus())
	require.Equal(t, "1643.00", p.balance(t))
}

// TestRunQueuedWaitsForSpace fills the disk for longer than the eight attempts of a job take. When
// space is free, the job continues without another commit.
func TestRunQueuedWaitsForSpace(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, statementFile)
	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	pgtest.Exec(t, s.DB, `
		CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE 'no space left' USING ERRCODE = 'disk_full'; END $$;
		CREATE TRIGGER reject BEFORE INSERT ON transactions FOR EACH ROW EXECUTE FUNCTION reject()`)
	attempt := func() {
		s.runJobs(t)
		pgtest.Exec(t, s.DB,
			`UPDATE imports SET leased_until = now() - interval '1 second' WHERE id = $1`,
			m.GetId())
	}
	for range 20 {
		attempt()
		require.Equal(t, staging.Running, p.get(t, m).GetStatus())
	}
	pgtest.Exec(t, s.DB, `DROP TRIGGER reject ON transactions`)
	attempt()
	require.Equal(t, staging.Done, p.get(t, m).GetStatus())
	require.Equal(t, "1643.00", p.balance(t))
}

func TestExpire(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	kept, committed := p.mustUpload(t, statementFile), p.commit(t, p.mustUpload(t, statementFile))
	abandoned, stopped := p.mustUpload(t, statementFile), p.mustUpload(t, statementFile)
	now := time.Now()
	pgtest.Exec(t, s.DB, `
		UPDATE imports
		SET updated_at = CASE WHEN id = $3 THEN $1::timestamptz - interval '61 minutes'
			ELSE $1::timestamptz - interval '8 days' END,
			status = CASE WHEN id = $3 THEN 'uploading' ELSE status END
		WHERE id <> $2`, now, kept.GetId(), stopped.GetId())
	require.NoError(t, staging.Expire(t.Context(), s.DB, now))
	_, err := p.GetImport(p.Ctx, &ledgerv1.GetImportRequest{Id: abandoned.GetId()})
	fixture.RequireReason(t, err, codes.NotFound, "IMPORT_NOT_FOUND")
	s.runJobs(t)
	left := pgtest.Value[[]string](t, s.DB, `
		SELECT array_agg(DISTINCT i.id::text ORDER BY i.id::text)
		FROM imports i
		FULL JOIN import_rows r ON r.import_id = i.id`)
	require.ElementsMatch(t, []string{kept.GetId(), committed.GetId()}, left)
}

// TestExpireUndone deletes the rows of an import a week after its undo, except those of the
// transactions that the undo has kept. The counts stay, also after another undo,
// canceled or not.
func TestExpireUndone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.commit(t, p.mustUpload(t, statementFile))
	pgtest.Exec(t, s.DB, `UPDATE transactions SET version = 2 WHERE id = $1`,
		p.rows(t, m)[0].GetTransactionId())
	m = p.undo(t, m, false)
	now := time.Now()
	require.NoError(t, staging.Expire(t.Context(), s.DB, now.Add(6*24*time.Hour)))
	require.Len(t, p.rows(t, m), 4)
	require.NoError(t, staging.Expire(t.Context(), s.DB, now.Add(8*24*time.Hour)))
	left := p.rows(t, m)
	require.Len(t, left, 1)
	require.Equal(t, staging.Skipped, left[0].GetStatus())
	require.Equal(t, m.GetCounts().String(), p.get(t, m).GetCounts().String())
	emptied := pgtest.Value[bool](t, s.DB,
		`UPDATE imports SET status = 'done' WHERE id = $1 RETURNING emptied`, m.GetId())
	require.True(t, emptied)
	_, err := p.UndoImport(p.Ctx, &ledgerv1.UndoImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	canceled, err := p.CancelImport(p.Ctx, &ledgerv1.CancelImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	require.Equal(t, staging.Done, canceled.GetImport().GetStatus())
	require.Equal(t, m.GetCounts().String(), canceled.GetImport().GetCounts().String())
	again := p.undo(t, m, false)
	require.Equal(t, staging.Undone, again.GetStatus())
	require.Equal(t, m.GetCounts().String(), again.GetCounts().String())
}
