package imports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// unsigned is a file that does not show which amounts are money out.
const unsigned = "Date,Text,Amount,Currency\n" +
	"2026-03-31,Bakery,3.50,EUR\n2026-03-30,Cafe,4.50,EUR\n"

// assumed returns the codes of an import's assumptions.
func assumed(m *ledgerv1.Import) []string {
	codes := []string{}
	for _, a := range m.GetAssumptions() {
		codes = append(codes, a.GetCode())
	}
	return codes
}

// requireBlocked requires that an import cannot be committed before its assumptions are confirmed.
func (p person) requireBlocked(t *testing.T, m *ledgerv1.Import) {
	t.Helper()
	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	problem := fixture.RequireReason(t, err, codes.FailedPrecondition, "IMPORT_NOT_READY")
	require.Equal(t, []string{"force"}, fixture.FieldNames(problem))
}

func TestCommitImportAssumptions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	t.Run("wait_for_a_change_of_the_mapping", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.mustUpload(t, unsigned)
		require.Equal(t, []string{"SIGN_ASSUMED"}, m.GetWarnings())
		require.Equal(t, []int32{2, 3}, m.GetAssumptions()[0].GetRows())
		p.requireBlocked(t, m)
		mapping := m.GetMapping()
		mapping.Invert = true
		m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: mapping})
		require.Empty(t, m.GetWarnings())
		require.Empty(t, m.GetAssumptions())
		p.committed(t, m)
		require.Equal(t, "-8.00", p.balance(t))

		next := p.mustUpload(t, strings.ReplaceAll(unsigned, "2026-03", "2026-05"))
		require.Empty(t, next.GetWarnings())
		p.committed(t, next)
		require.Equal(t, "-16.00", p.balance(t))
	})
	t.Run("disappear_one_by_one", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.mustUpload(t, "Date,Text,Amount,Currency\n03/04/2026,Bakery,3.50,EUR\n"+
			"03/05/2026,Cafe,4.50,EUR\n")
		require.Equal(t, []string{"DATE_ORDER_ASSUMED", "SIGN_ASSUMED"}, m.GetWarnings())
		mapping := m.GetMapping()
		require.Equal(t, "DD/MM/YYYY", mapping.GetDateLayout())
		mapping.DateLayout = "MM/DD/YYYY"
		m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: mapping})
		require.Equal(t, []string{"SIGN_ASSUMED"}, m.GetWarnings())
		p.requireBlocked(t, m)
		confirm := &ledgerv1.UpdateImportRequest{Id: m.GetId(), Confirm: []string{"SIGN_ASSUMED"}}
		m = p.update(t, confirm)
		require.Empty(t, m.GetWarnings())
		require.Empty(t, m.GetAssumptions())
		p.committed(t, m)
		require.Equal(t, "8.00", p.balance(t))
	})
	t.Run("are_ignored_with_force", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.mustUpload(t, unsigned)
		_, err := p.CommitImport(p.Ctx,
			&ledgerv1.CommitImportRequest{Id: m.GetId(), Force: true})
		require.NoError(t, err)
		p.finish(t, m)
		require.Equal(t, "8.00", p.balance(t))
	})
}

// TestUpdateImportConfirm requires that a confirmation alone derives no row again, also in a large
// import, whose rows a job would derive.
func TestUpdateImportConfirm(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, unsigned)
	s.inlineRows = 0
	resp, err := p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{
		Id: m.GetId(), Confirm: []string{"SIGN_ASSUMED"}, Wait: new(int32(0)),
	})
	require.NoError(t, err)
	require.Empty(t, resp.GetCode())
	require.Equal(t, staging.Preview, resp.GetImport().GetStatus())
	require.Empty(t, resp.GetImport().GetWarnings())
	require.Equal(t, m.GetCounts().GetReady(), resp.GetImport().GetCounts().GetReady())
	p.committed(t, m)
	require.Equal(t, "8.00", p.balance(t))
}

// TestUpdateImportBalances requires that the balances of all rows are compared, not only those of
// the first rows, which the proposal keeps.
func TestUpdateImportBalances(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	var file strings.Builder
	file.WriteString("Date,Text,Type,Amount,Balance,Currency\n")
	for i := range 320 {
		kind, balance := "debit", 999-i
		if i == 310 {
			kind = "credit"
		}
		fmt.Fprintf(&file, "2026-03-%02d,Bakery,%s,1.00,%d.00,EUR\n", 1+i/20, kind, balance)
	}
	m := p.mustUpload(t, file.String())
	require.Equal(t, []string{"BALANCE_MISMATCH"}, m.GetWarnings())
	require.Equal(t, []int32{311, 312}, m.GetAssumptions()[0].GetRows())
	require.Contains(t, m.GetAssumptions()[0].GetEvidence(), "689")
	p.requireBlocked(t, m)
	mapping := m.GetMapping()
	mapping.Negative = []string{"debit", "credit"}
	m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: mapping})
	require.Empty(t, m.GetWarnings())
	require.Empty(t, m.GetAssumptions())
}

func TestCreateImportSavedMapping(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const heading = "Date,Text,Amount,Currency,Tags,Fee\n"
	t.Run("reads_columns_that_were_empty", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		p.committed(t, p.mustUpload(t, heading+"2026-03-31,Bakery,-3.50,EUR,,\n"))
		m := p.mustUpload(t, heading+"2026-04-01,Cafe,-4.50,EUR,Cake,\n")
		require.Empty(t, assumed(m))
		require.Equal(t, []string{"Cake"}, p.rows(t, m)[0].GetTags())
	})
	t.Run("asks_for_fees_that_were_empty", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		p.committed(t, p.mustUpload(t, heading+"2026-03-31,Bakery,-3.50,EUR,,0.00\n"))
		m := p.mustUpload(t, heading+"2026-04-01,Cafe,-4.50,EUR,,1.00\n")
		require.Equal(t, []string{"AMOUNT_ASSUMED"}, assumed(m))
		p.requireBlocked(t, m)
	})
	t.Run("names_columns_that_an_earlier_release_left_out", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		p.committed(t, p.mustUpload(t, heading+"2026-03-31,Bakery,-3.50,EUR,,\n"))
		_, err := s.DB.Exec(t.Context(),
			`UPDATE import_profiles SET mapping = mapping - 'empty' WHERE owner_id = $1`, p.ID)
		require.NoError(t, err)
		m := p.mustUpload(t, heading+"2026-04-01,Cafe,-4.50,EUR,Cake,\n")
		require.Equal(t, []string{"COLUMNS_UNREAD"}, assumed(m))
		require.Contains(t, m.GetAssumptions()[0].GetEvidence(), "Tags")
		p.committed(t, m)
	})
}
