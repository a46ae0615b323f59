package imports

import (
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// TestUpdateImportDefaults changes some of the defaults. The others stay.
func TestUpdateImportDefaults(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()}, statementFile)
	require.NoError(t, err)
	id := resp.GetImport().GetId()
	change := func(d *ledgerv1.ImportDefaultsChange) *ledgerv1.ImportDefaults {
		return p.update(t, &ledgerv1.UpdateImportRequest{Id: id, Defaults: d}).GetDefaults()
	}
	d := change(&ledgerv1.ImportDefaultsChange{IncomeCategoryId: new(p.Category.String())})
	require.Equal(t, p.Wallet.String(), d.GetWalletId())
	d = change(&ledgerv1.ImportDefaultsChange{ExpenseCategoryId: new(p.Category.String())})
	require.Equal(t, p.Category.String(), d.GetIncomeCategoryId())
	require.Equal(t, staging.Done, p.commit(t, resp.GetImport()).GetStatus())

	other := p.mustUpload(t, "Date;Amount\n2026-02-01;-1\n")
	id = other.GetId()
	d = change(&ledgerv1.ImportDefaultsChange{WalletId: new(""), IncomeCategoryId: new("")})
	require.Empty(t, d.GetWalletId()+d.GetIncomeCategoryId())
	require.Equal(t, p.Category.String(), d.GetExpenseCategoryId())
}
