package imports

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// TestUpdateImportProblems checks that one error names all problems of a request.
func TestUpdateImportProblems(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, statementFile)
	unknown := s.NewID().String()

	_, err := p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{
		Id: m.GetId(),
		Mapping: &ledgerv1.ImportMapping{
			DateLayout: "x", DecimalMark: "x", AmountMode: "x", Currency: "ZZZ",
		},
		Accounts: []*ledgerv1.ImportAccount{
			{Key: "other", WalletId: unknown, Name: "\u200b"}, {Key: m.GetAccounts()[0].GetKey(), Create: true, Name: "\u200b"},
		},
		Categories: []*ledgerv1.ImportCategory{{Name: "other", CategoryId: unknown}},
	})
	require.ElementsMatch(t, []string{
		"mapping.dateLayout", "mapping.decimalMark", "mapping.currency", "mapping.amountMode", "mapping.columns",
		"accounts[0].key", "accounts[0].walletId", "accounts[0].name", "accounts[1].name", "categories[0].name", "categories[0].categoryId",
	}, fixture.FieldNames(fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")))

	_, err = p.ListImportRows(p.Ctx,
		&ledgerv1.ListImportRowsRequest{Id: m.GetId(), Status: []string{"x"}, Limit: new(int32(0))})
	require.Equal(t, []string{
		"limit", "status",
	}, fixture.FieldNames(fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")))

	_, err = p.UpdateImportRows(p.Ctx,
		&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: []*rowChange{
			{
				N: 99, CategoryId: &unknown, TransferWalletId: new("x"), Action: new("x"),
				Payee: new("\u200b"),
			},
		}})
	problem := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	require.ElementsMatch(t, []string{
		"rows[0].n", "rows[0].categoryId", "rows[0].transferWalletId", "rows[0].action",
		"rows[0].payee",
	}, fixture.FieldNames(problem))
}

// TestUpdateImportWithoutAccountName creates the wallet of an account that the file does not name.
func TestUpdateImportWithoutAccountName(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	m := p.uploaded(t, "!Type:Bank\nD01/20/2026\nT-3.00\nLFood\n^\n").GetImport()
	account := &ledgerv1.ImportAccount{Create: true}
	req := &ledgerv1.UpdateImportRequest{
		Id: m.GetId(), Accounts: []*ledgerv1.ImportAccount{account},
		Defaults: &ledgerv1.ImportDefaultsChange{Currency: new("EUR")},
	}
	_, err := p.UpdateImport(p.Ctx, req)
	problem := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, []string{"accounts[0].name"}, fixture.FieldNames(problem))
	account.Name = "Main"
	p.committed(t, p.update(t, req))
	require.Equal(t, []string{"Main|-300 EUR"}, p.balances(t))
}
