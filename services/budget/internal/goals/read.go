package goals

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const (
	// ledgerTimeout limits the wait for balances, which a response may omit.
	ledgerTimeout = 1500 * time.Millisecond
	// maxWallets is the maximum number of wallets in a response, and of those for which the ledger
	// returns balances in one call.
	maxWallets = 1000
)

// ListGoals returns a page of the acting user's goals, newest first, and the wallets with money of
// any of them. If the ledger is unavailable, balances are omitted, and days are in UTC.
func (s *Server) ListGoals(
	ctx context.Context, req *budgetv1.ListGoalsRequest,
) (*budgetv1.ListGoalsResponse, error) {
	owner := caller.ID(ctx)
	scope := "goals " + owner.String()
	if req.Archived != nil {
		scope += " " + strconv.FormatBool(req.GetArchived())
	}
	goals, pagination, err := page.List(s.Cursors, page.Query[goal, uuid.UUID]{
		Scope: scope, Limit: req.Limit, Cursor: req.GetCursor(), First: uuid.Max,
		Position: func(g goal) uuid.UUID { return g.ID },
		Select: func(before uuid.UUID, limit int) ([]goal, error) {
			return selectGoals(ctx, s.DB, goalList{
				owner: owner, archived: req.Archived, before: before, limit: limit,
			})
		},
	})
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(goals))
	for i, g := range goals {
		ids[i] = g.ID
	}
	saved, err := selectSavings(ctx, s.DB, owner, ids)
	if err != nil {
		return nil, err
	}
	wallets, err := selectAssigned(ctx, s.DB, owner)
	if err != nil {
		return nil, err
	}
	balances := s.balances(ctx, wallets)
	now, zone := s.Now(), balances.GetTimeZone()
	resp := &budgetv1.ListGoalsResponse{
		Pagination: pagination, Wallets: compare(wallets, balances),
	}
	for _, g := range goals {
		resp.Goals = append(resp.Goals, g.proto(g.progress(saved[g.ID], now, zone)))
	}
	return resp, nil
}

// GetGoal returns one of the acting user's goals. Errors: GOAL_NOT_FOUND.
func (s *Server) GetGoal(
	ctx context.Context, req *budgetv1.GetGoalRequest,
) (*budgetv1.GetGoalResponse, error) {
	id, err := parseGoalID(req.GetId())
	if err != nil {
		return nil, err
	}
	g, err := selectGoal(ctx, s.DB, caller.ID(ctx), id)
	if err != nil {
		return nil, pg.IfNoRows(err, errGoalNotFound)
	}
	saved, err := selectSavings(ctx, s.DB, g.OwnerID, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	return &budgetv1.GetGoalResponse{
		Goal: g.proto(g.progress(saved[id], s.Now(), s.timeZone(ctx))),
		Etag: etag.Format(g.Version),
	}, nil
}

// timeZone returns the time zone of the acting user. It is empty, which means UTC, without settings
// and if the ledger is unavailable.
func (s *Server) timeZone(ctx context.Context) string {
	return s.balances(ctx, nil).GetTimeZone()
}

// balances returns the balances of wallets and the time zone of the acting user with one call to
// the ledger, or nil if it is unavailable.
func (s *Server) balances(ctx context.Context, of []assigned) *ledgerv1.ReadBalancesResponse {
	req := &ledgerv1.ReadBalancesRequest{OwnerId: caller.ID(ctx).String()}
	for i, w := range of {
		if i == 0 || w.WalletID != of[i-1].WalletID {
			req.WalletIds = append(req.WalletIds, w.WalletID.String())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	resp, err := s.Ledger.ReadBalances(ctx, req)
	if err != nil {
		s.Log.WarnContext(ctx, "failed to read balances, so they are omitted and days are in UTC",
			"wallets", len(req.GetWalletIds()), "error", err)
		return nil
	}
	return resp
}

// compare returns the wallets with their balances. A wallet without a balance was deleted, or never
// had the currency. Without an answer of the ledger, balances are absent.
func compare(of []assigned, balances *ledgerv1.ReadBalancesResponse) []*budgetv1.GoalWallet {
	type key struct{ wallet, currency string }
	found := map[key]int64{}
	for _, b := range balances.GetBalances() {
		found[key{b.GetWalletId(), b.GetCurrency()}] = b.GetBalanceMinor()
	}
	wallets := make([]*budgetv1.GoalWallet, len(of))
	for i, a := range of {
		currency := money.CurrencyOf(a.Currency)
		wallets[i] = &budgetv1.GoalWallet{
			WalletId: a.WalletID.String(), Currency: a.Currency,
			Assigned: currency.Format(a.Minor),
		}
		if balances != nil {
			balance := found[key{wallets[i].GetWalletId(), a.Currency}]
			wallets[i].Balance = new(currency.Format(balance))
			wallets[i].Free = new(currency.Format(balance - a.Minor))
		}
	}
	return wallets
}

func (g goal) money() money.Currency { return money.CurrencyOf(g.Currency) }

// proto converts the goal. Events have no progress.
func (g goal) proto(progress *budgetv1.GoalProgress) *budgetv1.Goal {
	message := &budgetv1.Goal{
		Id:        g.ID.String(),
		Name:      g.Name,
		Currency:  g.Currency,
		Target:    g.money().Format(g.TargetMinor),
		Icon:      g.Icon,
		Note:      g.Note,
		Archived:  g.Archived,
		OwnerId:   g.OwnerID.String(),
		CreatedAt: calendar.FormatTime(g.CreatedAt),
		UpdatedAt: calendar.FormatTime(g.UpdatedAt),
		Progress:  progress,
	}
	if g.TargetDate != nil {
		message.TargetDate = new(g.TargetDate.Format(calendar.DateLayout))
	}
	if g.ReachedAt != nil {
		message.ReachedAt = new(calendar.FormatTime(*g.ReachedAt))
	}
	return message
}
