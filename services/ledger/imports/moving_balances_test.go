package imports

import (
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestMovingBalances follows docs/moving.md with files that the programs wrote, and compares the
// balances with those that the programs show.
func TestMovingBalances(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, file := range []string{"gnucash-4.13.csv", "gnucash-4.13-de.csv"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, s)
			dollars, err := p.CreateWallet(p.Ctx,
				&ledgerv1.CreateWalletRequest{Name: "Assets:Dollars", Currency: "USD"})
			require.NoError(t, err)
			m := p.uploaded(t, sample(t, file)).GetImport()
			accounts := createAll(m)
			require.Len(t, accounts, 5)
			for _, a := range accounts {
				if a.GetKey() == "Assets:Dollars" {
					a.WalletId, a.Create = dollars.GetWallet().GetId(), false
				}
			}
			m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Accounts: accounts})
			for _, r := range p.rows(t, m) {
				if r.GetDescription() == "Voided" {
					_, err := p.UpdateImportRows(p.Ctx,
						&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: []*rowChange{
							{N: r.GetN(), Action: new("skip")},
						}})
					require.NoError(t, err)
				}
			}
			p.committed(t, m)
			require.Equal(t, []string{
				"Assets:Cash|8850 EUR",
				`Assets:Current Assets:Girokonto "Müller", geb. Öz; Bank|304648 EUR`,
				"Assets:Current Assets:Savings|123986789 EUR",
				"Assets:Dollars|26250 USD",
				"Liabilities:Credit Card|0 EUR",
			}, p.balances(t))
			require.Contains(t, p.moved(t),
				"2026-02-10|Assets:Dollars|10800 USD|transfer||Buy dollars|")
		})
	}
	t.Run("new_wallets_in_two_currencies", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.uploaded(t, sample(t, "gnucash-4.13.csv")).GetImport()
		m = p.update(t, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Accounts: createAll(m),
			Defaults: &ledgerv1.ImportDefaultsChange{Currency: new("USD")},
		})
		p.committed(t, m)
		require.Equal(t, "0 USD", p.opening(t, "Assets:Dollars"))
		require.Equal(t, "0 EUR", p.opening(t, "Assets:Cash"))
		require.Equal(t, "0 EUR", p.opening(t, "Liabilities:Credit Card"))
	})
	t.Run("firefly-liabilities.csv", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.uploaded(t, sample(t, "firefly-liabilities.csv")).GetImport()
		m = p.update(t,
			&ledgerv1.UpdateImportRequest{Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{
				ExpenseCategoryId: new(p.Category.String()),
				IncomeCategoryId:  new(p.Category.String()),
			}})
		p.committed(t, m)
		require.Equal(t, "-7550 EUR 2026-01-01", p.opening(t, "Card"))
		require.Equal(t, []string{
			"Checking|54002 EUR", "Home|-4960000 EUR", "Lent to Öz|15000 EUR",
		}, p.balances(t))
		require.Contains(t, p.moved(t), "2026-01-15|Home|40000 EUR|transfer||Principal|")
	})
	t.Run("actual-26.9.csv", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		resp := p.uploaded(t, sample(t, "actual-26.9.csv"))
		m := p.update(t, &ledgerv1.UpdateImportRequest{
			Id: resp.GetImport().GetId(), Accounts: createAll(resp.GetImport()),
			Defaults: &ledgerv1.ImportDefaultsChange{
				Currency: new("EUR"), ExpenseCategoryId: new(p.Category.String()),
				IncomeCategoryId: new(p.Category.String()),
			},
		})
		p.committed(t, m)
		require.Equal(t, []string{
			"Cash|8850 EUR", `Checking "Müller", Öz; Bank|12537292 EUR`, "Credit Card|-747450 EUR", "Savings|173486789 EUR",
		}, p.balances(t))
		require.Contains(t, p.moved(t),
			"2026-03-04|Cash|-100 EUR|Food|=SUM(A1)|+49 -1 @home, uncategorized|")
	})
}
