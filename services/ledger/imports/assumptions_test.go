package imports

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
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

// confirm confirms warnings of an import as it is.
func (p person) confirm(t *testing.T, m *ledgerv1.Import, codes ...string) *ledgerv1.Import {
	t.Helper()
	seen, err := p.GetImport(p.Ctx, &ledgerv1.GetImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	return p.update(t, &ledgerv1.UpdateImportRequest{
		Id: m.GetId(), Confirm: codes, IfMatch: seen.GetEtag(),
	})
}

// TestImportVocabularies requires that the API documents the codes of the importer.
func TestImportVocabularies(t *testing.T) {
	t.Parallel()
	require.Equal(t, statement.EvidenceCodes,
		slices.Sorted(slices.Values(values(&ledgerv1.ImportAssumption{}, "reason"))))
	require.Equal(t, slices.Concat(statement.Confirmed, statement.Kept),
		values(&ledgerv1.UpdateImportRequest{}, "confirm"))
	confirmable := values(&ledgerv1.UpdateImportRequest{}, "confirm")
	for code := range statement.Blocking {
		require.Contains(t, confirmable, code)
	}
}

// values returns the values of a field that its option one_of names.
func values(m proto.Message, field protoreflect.Name) []string {
	options := m.ProtoReflect().Descriptor().Fields().ByName(field).Options()
	return strings.Fields(proto.GetExtension(options, restv1.E_OneOf).(string))
}

// TestCommitImportBlocked requires that no guess about days, amounts or payments is booked before
// the user has confirmed it.
func TestCommitImportBlocked(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for code, file := range map[string]string{
		"DATE_ORDER_ASSUMED": "Date,Text,Amount,Currency\n03/04/2026,Bakery,-3.50,EUR\n",
		"DECIMALS_ASSUMED":   "Date,Text,Amount,Currency\n2026-03-31,Bakery,-3.500,KWD\n",
		"STATUS_ASSUMED": "Date,Text,Amount,Currency,Status\n2026-03-31,Bakery,-3.50,EUR,zzz\n" +
			"2026-03-30,Cafe,-4.50,EUR,yyy\n",
		"AMOUNT_ASSUMED": "Date,Text,Amount,Currency,Fee\n2026-03-31,Bakery,-3.50,EUR,1.00\n",
		"SIGN_ASSUMED":   unsigned,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, s)
			m := p.mustUpload(t, file)
			require.Equal(t, []string{code}, m.GetWarnings())
			a := m.GetAssumptions()[0]
			require.True(t, a.GetBlocks())
			require.NotEmpty(t, a.GetReason())
			require.NotContains(t, a.GetEvidence(), "no value")
			p.requireBlocked(t, m)
			m = p.confirm(t, m, code)
			require.Empty(t, m.GetWarnings())
			p.committed(t, m)
		})
	}
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
		m = p.confirm(t, m, "SIGN_ASSUMED")
		require.Empty(t, m.GetWarnings())
		require.Empty(t, m.GetAssumptions())
		p.committed(t, m)
		require.Equal(t, "8.00", p.balance(t))
	})
	t.Run("are_ignored_with_force", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.mustUpload(t, unsigned)
		_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId(), Force: true})
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
	req := &ledgerv1.UpdateImportRequest{
		Id: m.GetId(), Confirm: []string{"SIGN_ASSUMED"}, Wait: new(int32(0)),
	}
	_, err := p.UpdateImport(p.Ctx, req)
	problem := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, []string{"If-Match"}, fixture.FieldNames(problem))
	req.IfMatch = `"1"`
	_, err = p.UpdateImport(p.Ctx, req)
	fixture.RequireReason(t, err, codes.FailedPrecondition, "VERSION_MISMATCH")
	seen, err := p.GetImport(p.Ctx, &ledgerv1.GetImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	req.IfMatch = seen.GetEtag()
	resp, err := p.UpdateImport(p.Ctx, req)
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

	// A confirmation holds until the mapping changes, also for other assignments.
	m = p.confirm(t, m, "BALANCE_MISMATCH")
	require.Equal(t, []string{"BALANCE_MISMATCH"}, m.GetWarnings())
	require.True(t, m.GetAssumptions()[0].GetAccepted())
	require.False(t, m.GetAssumptions()[0].GetBlocks())
	m = p.update(t, &ledgerv1.UpdateImportRequest{
		Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{Currency: new("EUR")},
	})
	require.False(t, m.GetAssumptions()[0].GetBlocks())
	mapping := m.GetMapping()
	mapping.Columns = slices.DeleteFunc(mapping.GetColumns(), func(c *ledgerv1.ImportColumn) bool {
		return c.GetField() == "description"
	})
	m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: mapping})
	require.True(t, m.GetAssumptions()[0].GetBlocks())
	p.requireBlocked(t, m)
	p.committed(t, p.confirm(t, m, "BALANCE_MISMATCH"))

	m = p.mustUpload(t, strings.ReplaceAll(file.String(), "2026-03", "2026-04"))
	require.Equal(t, []string{"BALANCE_MISMATCH"}, m.GetWarnings())
	p.requireBlocked(t, m)
	mapping = m.GetMapping()
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
		pgtest.Exec(t, s.DB,
			`UPDATE import_profiles SET mapping = mapping - 'empty' WHERE owner_id = $1`, p.ID)
		m := p.mustUpload(t, heading+"2026-04-01,Cafe,-4.50,EUR,Cake,\n")
		require.Equal(t, []string{"COLUMNS_UNREAD"}, assumed(m))
		require.Contains(t, m.GetAssumptions()[0].GetEvidence(), "Tags")
		p.committed(t, m)
	})
}

// TestCreateImportFuture requires that days long after the upload show which number is the month.
func TestCreateImportFuture(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Service.Ledger.Now = func() time.Time { return time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC) }
	p := newPerson(t, s)
	m := p.mustUpload(t, "Date,Text,Amount,Currency\n05/08/2026,Bakery,-3.50,EUR\n")
	require.Equal(t, []string{"DATE_ORDER_INFERRED"}, m.GetWarnings())
	require.Equal(t, "DATES_BY_FUTURE", m.GetAssumptions()[0].GetReason())
	require.False(t, m.GetAssumptions()[0].GetBlocks())
	require.Equal(t, "MM/DD/YYYY", m.GetMapping().GetDateLayout())
	m = p.confirm(t, m, "DATE_ORDER_INFERRED")
	require.Empty(t, m.GetWarnings())
}
