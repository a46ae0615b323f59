package demo

import (
	"context"
	"net/http"
	"time"
)

// shareHousehold creates a budget of the partner, with transactions, that the account shares.
func (f *filler) shareHousehold(ctx context.Context, partner *client) error {
	budget, wallet, category, err := f.partnerBudget(ctx, partner, "Home and garden", "🪴",
		"monthly", 30_000)
	if err != nil {
		return err
	}
	for index, bought := range []struct {
		payee string
		cents int64
	}{
		{"Timber & Tools", 6_480},
		{"Garden Center Nord", 3_295},
		{"Lamp Studio", 7_900},
		{"Paint Box", 2_140},
	} {
		err := partner.call(ctx, http.MethodPost, "/api/v1/transaction", object{
			"amount": amount(bought.cents), "type": expense, "currency": "EUR",
			"date":  f.Now.AddDate(0, 0, -3*index).Format(time.RFC3339),
			"payee": bought.payee, "walletId": wallet, "categoryId": category,
		}, nil)
		if err != nil {
			return err
		}
	}
	if err := partner.share(ctx, budget, f.Email, "editor", 50); err != nil {
		return err
	}
	return f.user.accept(ctx, budget)
}

// invite invites the account to a budget of the partner. The invitation stays pending.
func (f *filler) invite(ctx context.Context, partner *client) error {
	budget, _, _, err := f.partnerBudget(ctx, partner, "Weekends away", "⛺", "quarterly", 45_000)
	if err != nil {
		return err
	}
	return partner.share(ctx, budget, f.Email, "viewer", 50)
}

// partnerBudget creates a budget of the partner with a wallet and a category of the same name. It
// starts with the last month.
func (f *filler) partnerBudget(
	ctx context.Context, partner *client, name, icon, period string, limit int64,
) (budget, wallet, category string, err error) {
	wallet, err = partner.create(ctx, "/api/v1/wallet", object{
		"name": name, "currency": "EUR", "balance": amount(2 * limit), "icon": icon,
	}, "wallet")
	if err != nil {
		return "", "", "", err
	}
	category, err = partner.create(ctx, "/api/v1/categories",
		object{"name": name, "icon": icon, "kind": expense}, "category")
	if err != nil {
		return "", "", "", err
	}
	start := time.Date(f.Now.Year(), f.Now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	budget, err = partner.create(ctx, "/api/v1/budgets", object{
		"name": name, "currency": "EUR", "limit": amount(limit), "period": period,
		"startDate": start.Format(time.DateOnly), "walletId": wallet,
		"categoryIds": []string{category},
	}, "budget")
	return budget, wallet, category, err
}
