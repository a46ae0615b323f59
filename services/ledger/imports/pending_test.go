package imports

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const statusHeading = "Date,Payee,Amount,Currency,Status\n"

// reservedFile has a row of each status.
const reservedFile = statusHeading + "2026-02-03,Bakery,-3.50,EUR,Completed\n" +
	"2026-02-04,Shell Hamburg,-40.00,EUR,Pending\n2026-02-05,Cinema,-12.00,EUR,Declined\n"

// book sets the action of all rows with a status, and returns the import.
func (p person) book(t testing.TB, m *ledgerv1.Import, status string) *ledgerv1.Import {
	t.Helper()
	var changes []*rowChange
	for _, r := range p.rows(t, m) {
		if r.GetStatus() == status {
			changes = append(changes, &rowChange{N: r.GetN(), Action: new(staging.ActionBook)})
		}
	}
	resp, err := p.UpdateImportRows(p.Ctx,
		&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: changes})
	require.NoError(t, err)
	return resp.GetImport()
}

// reserved commits reservedFile with its pending row, and returns the import and its transaction.
func (p person) reserved(t testing.TB) (*ledgerv1.Import, posting.Transaction) {
	t.Helper()
	m := p.commit(t, p.book(t, p.mustUpload(t, reservedFile), staging.Pending))
	require.EqualValues(t, 2, m.GetCounts().GetBooked())
	id, err := uuid.Parse(p.rows(t, m)[1].GetTransactionId())
	require.NoError(t, err)
	stored := p.Transaction(t, id)
	return m, stored
}

func TestCommitImportStatuses(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, reservedFile)
	require.Equal(t, []int32{3, 1, 1, 1}, []int32{
		m.GetCounts().GetTotal(), m.GetCounts().GetReady(), m.GetCounts().GetPending(),
		m.GetCounts().GetSkipped(),
	})
	rows := p.rows(t, m)
	require.Equal(t, staging.Pending, rows[1].GetStatus())
	require.True(t, rows[1].GetPending())
	require.NotEmpty(t, rows[1].GetProblem())
	require.Equal(t, staging.Skipped, rows[2].GetStatus())
	require.Contains(t, rows[2].GetProblem(), "Declined")
	require.Equal(t, "-12.00", rows[2].GetAmount())
	resp, err := p.ListImportRows(p.Ctx,
		&ledgerv1.ListImportRowsRequest{Id: m.GetId(), Status: []string{staging.Pending}})
	require.NoError(t, err)
	require.Len(t, resp.GetRows(), 1)

	// No action books a void row, and auto makes a row pending again.
	require.EqualValues(t, 1, p.book(t, m, staging.Skipped).GetCounts().GetSkipped())
	require.EqualValues(t, 2, p.book(t, m, staging.Pending).GetCounts().GetReady())
	_, err = p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
		Id: m.GetId(), Rows: []*rowChange{{N: rows[1].GetN(), Action: new("auto")}},
	})
	require.NoError(t, err)
	m = p.commit(t, m)
	require.Equal(t, staging.Done, m.GetStatus())
	require.Equal(t, []int32{1, 1, 1}, []int32{
		m.GetCounts().GetBooked(), m.GetCounts().GetPending(), m.GetCounts().GetSkipped(),
	})
	require.Equal(t, "-3.50", p.balance(t))
	m = p.undo(t, m, false)
	require.Equal(t, "0.00", p.balance(t))
	require.EqualValues(t, 1, m.GetCounts().GetPending())
	s.RequireConsistent(t)
}

func TestCommitImportReplacesPending(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for name, c := range map[string]struct {
		row  string
		want string // The balance without the bakery.
		// beside is set if the row is booked beside the pending transaction, and possible if it
		// names the transaction.
		beside, possible bool
	}{
		"with another amount":    {row: "2026-02-06,SHELL STATION,-44.10,EUR,", want: "-44.10"},
		"with the same contents": {row: "2026-02-04,Shell Hamburg,-40.00,EUR,", want: "-40.00"},
		"without a payee":        {row: "2026-02-11,,-32.00,EUR,", want: "-32.00"},
		"not with a far amount":  {row: "2026-02-04,Shell,-48.10,EUR,", want: "-88.10", beside: true},
		"not with a far day":     {row: "2026-02-12,Shell,-40.00,EUR,", want: "-80.00", beside: true},
		"not with another payee": {row: "2026-02-04,Rewe,-40.50,EUR,", want: "-80.50", beside: true},
		"not with another payee of a city": {
			row: "2026-02-05,Rewe Hamburg,-40.50,EUR,", want: "-80.50", beside: true, possible: true,
		},
		"not with the other direction": {row: "2026-02-04,Shell,40.00,EUR,", want: "0.00", beside: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, s)
			first, pending := p.reserved(t)
			require.True(t, strings.HasPrefix(*pending.ExternalID, "pending:"))
			require.Equal(t, "-43.50", p.balance(t))
			file := statusHeading + "2026-02-03,Bakery,-3.50,EUR,Completed\n" + c.row +
				"Completed\n"
			m := p.mustUpload(t, file)
			require.EqualValues(t, 1, m.GetCounts().GetDuplicate())
			row := p.rows(t, m)[1]
			total := money.CurrencyOf("EUR")
			want, err := total.Parse(c.want)
			require.NoError(t, err)
			if c.beside {
				require.Equal(t, staging.Ready, row.GetStatus())
				require.Equal(t, c.possible, row.GetPossibleDuplicateOf() == pending.ID.String())
			} else {
				require.Equal(t, staging.Matched, row.GetStatus())
				require.Equal(t, pending.ID.String(), row.GetDuplicateOf())
				require.Equal(t, "-40.00", row.GetFormerAmount())
			}
			require.Equal(t, staging.Done, p.commit(t, m).GetStatus())
			require.Equal(t, total.Format(want-350), p.balance(t))
			stored := s.Transaction(t, pending.ID)
			if !c.beside {
				require.Equal(t, row.GetDate(), stored.Date.Format("2006-01-02"))
				require.Equal(t, row.GetExternalId(), *stored.ExternalID)
				require.Equal(t, pending.CategoryID, stored.CategoryID)
				require.Equal(t, "Shell Hamburg", stored.Payee)
				again := p.mustUpload(t, file+"\n")
				require.EqualValues(t, 2, again.GetCounts().GetDuplicate())
			}
			p.undo(t, m, false)
			require.Equal(t, "-43.50", p.balance(t))
			stored = s.Transaction(t, pending.ID)
			stored.Version, stored.UpdatedAt = pending.Version, pending.UpdatedAt
			require.Equal(t, pending, stored)
			require.EqualValues(t, 2, p.get(t, first).GetCounts().GetBooked())
		})
	}
}

// TestCommitImportReplacesPendingOnce commits two files that book the same payment, and one whose
// payment another one has replaced since the preview.
func TestCommitImportReplacesPendingOnce(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	_, pending := p.reserved(t)
	files := []*ledgerv1.Import{
		p.mustUpload(t, statusHeading+"2026-02-06,Shell,-44.00,EUR,Completed\n"),
		p.mustUpload(t, statusHeading+"2026-02-07,Shell Hamburg,-41.00,EUR,Completed\n"),
		p.mustUpload(t, statusHeading+"2026-02-06,Shell,-44.00,EUR,Completed\n\n"),
	}
	for _, m := range files {
		require.EqualValues(t, 1, m.GetCounts().GetMatched())
	}
	before := s.stored(t)
	first := p.commit(t, files[0])
	require.Equal(t, "-47.50", p.balance(t))
	second := p.commit(t, files[1])
	require.EqualValues(t, 1, second.GetCounts().GetBooked())
	require.Equal(t, "-88.50", p.balance(t))
	require.EqualValues(t, 1, p.commit(t, files[2]).GetCounts().GetDuplicate())
	require.Equal(t, "-88.50", p.balance(t))
	p.undo(t, second, false)
	p.undo(t, first, false)
	require.Equal(t, before, s.stored(t))
	s.RequireConsistent(t)

	t.Run("keeps what the user has changed since", func(t *testing.T) {
		m := p.commit(t,
			p.mustUpload(t, statusHeading+"2026-02-06,Shell,-44.00,EUR,Completed\n\n\n"))
		require.Equal(t, "-47.50", p.balance(t))
		pgtest.Exec(t, s.DB, `UPDATE transactions SET date = date + interval '1 day' WHERE id = $1`,
			pending.ID)
		p.undo(t, m, false)
		require.Equal(t, "-43.50", p.balance(t))
		stored := s.Transaction(t, pending.ID)
		require.Equal(t, "2026-02-07", stored.Date.Format("2006-01-02"))
	})
}

// TestCommitImportKeepsChangedPending changes the transaction of a pending payment after the
// preview, so that the row does not book it any more.
func TestCommitImportKeepsChangedPending(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for name, change := range map[string]string{
		"currency":  `currency = 'USD'`,
		"direction": `amount_minor = -amount_minor, amount_e4 = -amount_e4`,
		"wallet": `wallet_id = (SELECT w.id FROM wallets w
			WHERE w.owner_id = transactions.owner_id AND w.id <> transactions.wallet_id)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, s)
			p.MakeWallet(p.Ctx, t, "Other", "EUR")
			_, pending := p.reserved(t)
			m := p.mustUpload(t, statusHeading+"2026-02-06,Shell,-44.00,EUR,Completed\n")
			require.EqualValues(t, 1, m.GetCounts().GetMatched())
			pgtest.Exec(t, s.DB, `UPDATE transactions SET `+change+` WHERE id = $1`, pending.ID)
			want := s.Transaction(t, pending.ID)
			m = p.commit(t, m)
			require.Equal(t, staging.Done, m.GetStatus())
			require.EqualValues(t, 1, m.GetCounts().GetBooked())
			stored := s.Transaction(t, pending.ID)
			require.Equal(t, want, stored)
		})
	}
}

// TestCommitImportReplacesRepeatedID books two pending payments with rows that have one external
// id, as rows of two accounts of a wallet may. The wallet has the id once.
func TestCommitImportReplacesRepeatedID(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	p.commit(t, p.book(t, p.mustUpload(t, statusHeading+"2026-02-04,Shell,-40.00,EUR,Pending\n"+
		"2026-02-04,Rewe,-20.00,EUR,Pending\n"), staging.Pending))
	m := p.mustUpload(t, statusHeading+
		"2026-02-06,Shell,-41.00,EUR,Completed\n2026-02-06,Rewe,-21.00,EUR,Completed\n")
	require.EqualValues(t, 2, m.GetCounts().GetMatched())
	pgtest.Exec(t, s.DB, `UPDATE import_rows SET external_id = 'bank 1' WHERE import_id = $1`,
		m.GetId())
	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	s.runJobs(t)
	m = p.get(t, m)
	require.Equal(t, staging.Done, m.GetStatus())
	require.EqualValues(t, 1, m.GetCounts().GetBooked())
	s.RequireConsistent(t)
}

// TestCommitImportPendingProperty books random reservations, and then their bookings with random
// days and amounts. Each reservation counts once, and the undo restores the books.
func TestCommitImportPendingProperty(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for seed := range uint64(4) {
		p := newPerson(t, s)
		random := rand.New(rand.NewPCG(30, seed))
		reserved, booked := statusHeading, statusHeading
		total := int64(0)
		for i := range 20 {
			amount := int64(1000 + random.IntN(9000))
			day := 1 + random.IntN(20)
			line := func(day int, amount int64, status string) string {
				return fmt.Sprintf("2026-03-%02d,Shop%c,-%d.%02d,EUR,%s\n", day, 'a'+rune(i),
					amount/100, amount%100, status)
			}
			reserved += line(day, amount, "pending")
			if random.IntN(4) > 0 {
				amount += amount * int64(random.IntN(41)-20) / 100
				booked += line(day+random.IntN(8), amount, "posted")
			}
			total += amount
		}
		p.commit(t, p.book(t, p.mustUpload(t, reserved), staging.Pending))
		before := s.stored(t)
		m := p.commit(t, p.mustUpload(t, booked))
		require.Zero(t, m.GetCounts().GetBooked(), seed)
		require.Equal(t, money.CurrencyOf("EUR").Format(-total), p.balance(t), seed)
		p.undo(t, m, false)
		require.Equal(t, before, s.stored(t), seed)
	}
	s.RequireConsistent(t)
}
