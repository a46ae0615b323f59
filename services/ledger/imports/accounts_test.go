package imports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// accountFile is a CSV file that names the account of its row.
const accountFile = "Date,Text,Amount,Currency,Account\n2026-03-31,Bakery,-3.50,EUR,Travel card\n"

// assign uploads a file without a wallet, assigns the user's wallet to an account and commits the
// import.
func (p person) assign(t *testing.T, file, account string) {
	t.Helper()
	resp, err := p.upload(&ledgerv1.CreateImportRequest{}, file)
	require.NoError(t, err)
	m := p.update(t, &ledgerv1.UpdateImportRequest{
		Id: resp.GetImport().GetId(),
		Accounts: []*ledgerv1.ImportAccount{
			{Key: account, WalletId: p.Wallet.String()},
		},
		Defaults: &ledgerv1.ImportDefaultsChange{ExpenseCategoryId: new(p.Category.String())},
	})
	p.committed(t, m)
}

// walletName returns the name of the user's wallet.
func (p person) walletName(t *testing.T) string {
	t.Helper()
	resp, err := p.GetWallet(p.Ctx, &ledgerv1.GetWalletRequest{Id: p.Wallet.String()})
	require.NoError(t, err)
	return resp.GetWallet().GetName()
}

func TestCreateImportAccounts(t *testing.T) {
	t.Parallel()
	s := setup(t)
	next := strings.ReplaceAll(accountFile, "2026-03", "2026-05")
	t.Run("have_the_wallet_of_the_last_file", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		p.newWallet(t, "Travel card")
		p.assign(t, accountFile, "Travel card")
		resp, err := p.upload(&ledgerv1.CreateImportRequest{}, next)
		require.NoError(t, err)
		m := resp.GetImport()
		require.Equal(t, p.Wallet.String(), m.GetAccounts()[0].GetWalletId())
		require.Equal(t, staging.Ready, p.rows(t, m)[0].GetStatus())
	})
	t.Run("have_the_wallet_of_the_form", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		p.assign(t, accountFile, "Travel card")
		other := p.newWallet(t, "Other")
		resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: other}, next)
		require.NoError(t, err)
		require.Empty(t, resp.GetImport().GetAccounts()[0].GetWalletId())
		require.Equal(t, other, resp.GetImport().GetDefaults().GetWalletId())
	})
	const headed = "Date,Text,Amount,Currency\n2026-03-31,Bakery,-3.50,EUR\n"
	t.Run("without_a_name_are_assumed_by_the_heading", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		p.assign(t, headed, "")
		resp, err := p.upload(&ledgerv1.CreateImportRequest{},
			strings.ReplaceAll(headed, "2026-03", "2026-05"))
		require.NoError(t, err)
		m := resp.GetImport()
		require.Equal(t, []string{"WALLET_ASSUMED"}, m.GetWarnings())
		require.Contains(t, m.GetAssumptions()[0].GetEvidence(), p.walletName(t))
		require.Equal(t, p.Wallet.String(), m.GetAccounts()[0].GetWalletId())

		other := p.newWallet(t, "Other")
		m = p.update(t, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(),
			Defaults: &ledgerv1.ImportDefaultsChange{
				WalletId: new(other), ExpenseCategoryId: new(p.Category.String()),
			},
		})
		require.Empty(t, m.GetWarnings())
		require.Empty(t, m.GetAccounts()[0].GetWalletId())
		p.committed(t, m)
		require.Equal(t, "-3.50", p.balance(t))
		resp, err = p.upload(&ledgerv1.CreateImportRequest{},
			strings.ReplaceAll(headed, "2026-03", "2026-06"))
		require.NoError(t, err)
		require.Equal(t, other, resp.GetImport().GetAccounts()[0].GetWalletId())
		require.Contains(t, resp.GetImport().GetAssumptions()[0].GetEvidence(), `"Other"`)

		resp, err = p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()},
			strings.ReplaceAll(headed, "2026-03", "2026-07"))
		require.NoError(t, err)
		require.Empty(t, resp.GetImport().GetWarnings())
	})
	t.Run("of_another_user_have_none", func(t *testing.T) {
		t.Parallel()
		newPerson(t, s).assign(t, accountFile, "Travel card")
		resp, err := newPerson(t, s).upload(&ledgerv1.CreateImportRequest{}, next)
		require.NoError(t, err)
		require.Empty(t, resp.GetImport().GetAccounts()[0].GetWalletId())
	})
}
