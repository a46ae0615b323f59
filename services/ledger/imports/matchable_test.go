package imports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// match states that a transaction is the payment of a row.
func (p person) match(m *ledgerv1.Import, n int32, transaction string) error {
	_, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
		Id: m.GetId(), Rows: []*rowChange{{N: n, Action: new("match:" + transaction)}},
	})
	return err
}

// TestUpdateImportRowsMatch matches rows with their possible duplicates, which the console offers
// for each of them.
func TestUpdateImportRowsMatch(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const statement = "OFXHEADER:100\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR" +
		"<BANKACCTFROM><ACCTID>1</BANKACCTFROM><BANKTRANLIST><STMTTRN><TRNTYPE>DEBIT" +
		"<DTPOSTED>20260228<TRNAMT>-850.00<FITID>7<NAME>Standing order</STMTTRN>" +
		"</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
	t.Run("a transaction of a file of another format", func(t *testing.T) {
		t.Parallel()
		s := setup(t) // Other subtests would change what is stored.
		p := newPerson(t, s)
		p.commit(t, p.mustUpload(t, statementFile))
		before := s.stored(t)
		m := p.mustUpload(t, statement)
		row := p.rows(t, m)[0]
		require.Equal(t, staging.Ready, row.GetStatus())
		require.NoError(t, p.match(m, row.GetN(), row.GetPossibleDuplicateOf()))
		m = p.commit(t, m)
		require.EqualValues(t, 1, m.GetCounts().GetMatched())
		require.Equal(t, "1643.00", p.balance(t))
		require.Equal(t, row.GetPossibleDuplicateOf(), p.rows(t, m)[0].GetTransactionId())
		p.undo(t, m, false)
		require.Equal(t, before, s.stored(t))
	})
	t.Run("a pending payment whose import was deleted", func(t *testing.T) {
		t.Parallel()
		const replaces = "replaces it"
		for name, change := range map[string]string{
			replaces: `version = version`,
			// Another direction cannot be replaced, but the user says that both are one.
			"links what has changed since": `amount_minor = -amount_minor, amount_e4 = -amount_e4`,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := newPerson(t, s)
				first, pending := p.reserved(t)
				_, err := p.DeleteImport(p.Ctx, &ledgerv1.DeleteImportRequest{Id: first.GetId()})
				require.NoError(t, err)
				s.runJobs(t)
				m := p.mustUpload(t, statusHeading+"2026-02-04,Petrol,-44.10,EUR,Completed\n")
				row := p.rows(t, m)[0]
				require.NoError(t, p.match(m, row.GetN(), pending.ID.String()))
				require.Equal(t, "-40.00", p.rows(t, m)[0].GetFormerAmount())
				pgtest.Exec(t, s.DB, `UPDATE transactions SET `+change+` WHERE id = $1`, pending.ID)
				m = p.commit(t, m)
				require.EqualValues(t, 1, m.GetCounts().GetMatched())
				require.Equal(t, pending.ID.String(), p.rows(t, m)[0].GetTransactionId())
				if name == replaces {
					require.Equal(t, "-47.60", p.balance(t))
					p.undo(t, m, false)
					require.Equal(t, "-43.50", p.balance(t))
				}
			})
		}
	})
	t.Run("not the transaction that another row matches", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		entered := p.enter(t, "-850", "Somebody", 28).String()
		m := p.mustUpload(t, strings.Replace(statement, "</BANKTRANLIST>", "<STMTTRN><TRNTYPE>DEBIT"+
			"<DTPOSTED>20260228<TRNAMT>-850.00<FITID>8<NAME>Garage</STMTTRN></BANKTRANLIST>", 1))
		rows := p.rows(t, m)
		_, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
			Id: m.GetId(), Rows: []*rowChange{
				{N: rows[0].GetN(), Action: new("match:" + entered)},
				{N: rows[1].GetN(), Action: new("match:" + entered)},
			},
		})
		fixture.RequireReason(t, err, codes.NotFound, "TRANSACTION_NOT_FOUND")
		for range 2 {
			require.NoError(t, p.match(m, rows[0].GetN(), entered))
		}
		fixture.RequireReason(t, p.match(m, rows[1].GetN(), entered), codes.NotFound,
			"TRANSACTION_NOT_FOUND")
		require.Equal(t, staging.Ready, p.rows(t, m)[1].GetStatus())
	})
	t.Run("not a transaction of another row of the import", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.commit(t, p.mustUpload(t, statementFile))
		booked := p.rows(t, m)[0].GetTransactionId()
		pgtest.Exec(t, s.DB, `
			WITH failed AS (UPDATE imports SET status = 'failed' WHERE id = $1)
			UPDATE import_rows SET status = 'ready', transaction_id = NULL
			WHERE import_id = $1 AND n = 3`, m.GetId())
		err := p.match(m, 3, booked)
		fixture.RequireReason(t, err, codes.NotFound, "TRANSACTION_NOT_FOUND")
		fixture.RequireReason(t, p.match(m, 3, s.NewID().String()), codes.NotFound,
			"TRANSACTION_NOT_FOUND")
		other := newPerson(t, s)
		fixture.RequireReason(t, p.match(m, 3, other.enter(t, "-1", "Shop", 1).String()),
			codes.NotFound, "TRANSACTION_NOT_FOUND")
	})
}
