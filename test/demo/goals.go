package demo

import (
	"context"
	"net/http"
	"time"
)

// goals are the goals of the household, with amounts in cents. Their money is in the savings
// account. The last goal is reached.
var goals = []struct {
	name, icon, note string
	target, monthly  int64
	// due is the number of months until the target date, or 0.
	due, months int
}{
	{"Emergency fund", "🛟", "Three months of expenses", 900_000, 50_000, 0, 11},
	{"Trip to Japan", "🗾", "Two weeks in spring", 420_000, 30_000, 7, 6},
	{"New bicycle", "🚲", "", 120_000, 30_000, 0, 4},
}

// createGoals creates the goals and saves for them each month.
func (f *filler) createGoals(ctx context.Context) error {
	month := time.Date(f.Now.Year(), f.Now.Month(), 1, 0, 0, 0, 0, time.UTC)
	for _, g := range goals {
		body := object{
			"name": g.name, "currency": "EUR", "target": amount(g.target), "icon": g.icon,
			"note": g.note,
		}
		if g.due > 0 {
			body["targetDate"] = month.AddDate(0, g.due, -1).Format(time.DateOnly)
		}
		id, err := f.user.create(ctx, "/api/v1/goals", body, "goal")
		if err != nil {
			return err
		}
		for ago := g.months - 1; ago >= 0; ago-- {
			if err := f.user.call(ctx, http.MethodPost, "/api/v1/goals/"+id+"/assignments", object{
				"walletId": f.wallets[savings], "amount": amount(g.monthly),
				"date": month.AddDate(0, -ago, 0).Format(time.DateOnly),
			}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
