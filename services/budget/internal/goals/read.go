package goals

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

const (
	// ledgerTimeout limits the wait for balances, which a response may omit.
	ledgerTimeout = 1500 * time.Millisecond
	// maxWallets is the maximum number of wallets in a response, and of those for which the ledger
	// returns balances in one call.
	maxWallets = 1000
)

// ListGoals returns a page of the acting user's own goals and the accepted ones, newest first, and
// the user's wallets with money of any of them. If the ledger is unavailable, balances are omitted,
// and days are in UTC. If auth is unavailable, the names of owners are omitted.
func (s *Server) ListGoals(
	ctx context.Context, req *budgetv1.ListGoalsRequest,
) (*budgetv1.ListGoalsResponse, error) {
	user := caller.ID(ctx)
	scope := "goals " + user.String()
	if req.Archived != nil {
		scope += " " + strconv.FormatBool(req.GetArchived())
	}
	goals, pagination, err := page.List(s.Cursors, page.Query[seenGoal, uuid.UUID]{
		Scope: scope, Limit: req.Limit, Cursor: req.GetCursor(), First: uuid.Max,
		Position: func(g seenGoal) uuid.UUID { return g.ID },
		Select: func(before uuid.UUID, limit int) ([]seenGoal, error) {
			return selectGoals(ctx, s.DB, goalList{
				user: user, archived: req.Archived, before: before, limit: limit,
			})
		},
	})
	if err != nil {
		return nil, err
	}
	stored, things := make([]goal, len(goals)), make([]sharing.Thing, len(goals))
	for i, g := range goals {
		stored[i], things[i] = g.goal, g.thing()
	}
	saved, err := selectSavings(ctx, s.DB, stored...)
	if err != nil {
		return nil, err
	}
	wallets, err := selectAssigned(ctx, s.DB, user)
	if err != nil {
		return nil, err
	}
	var ledgerCall sync.WaitGroup
	var balances *ledgerv1.ReadBalancesResponse
	ledgerCall.Go(func() { balances = s.balances(ctx, wallets) })
	users := s.Members.UsersOf(ctx, nil, things)
	ledgerCall.Wait()
	now, zone := s.Now(), balances.GetTimeZone()
	resp := &budgetv1.ListGoalsResponse{
		Pagination: pagination, Wallets: compare(wallets, balances),
	}
	for _, g := range goals {
		progress := g.progress(saved[g.ID], now, zone)
		resp.Goals = append(resp.Goals, g.proto(progress, users.OwnerName(g.thing())))
	}
	return resp, nil
}

// GetGoal returns a goal to its owner and accepted members. Errors: GOAL_NOT_FOUND.
func (s *Server) GetGoal(
	ctx context.Context, req *budgetv1.GetGoalRequest,
) (*budgetv1.GetGoalResponse, error) {
	id, err := s.Members.ParseID(req.GetId())
	if err != nil {
		return nil, err
	}
	g, err := s.goalFor(ctx, s.DB, id, sharing.Read)
	if err != nil {
		return nil, err
	}
	saved, err := selectSavings(ctx, s.DB, g.goal)
	if err != nil {
		return nil, err
	}
	return &budgetv1.GetGoalResponse{
		Goal: s.detail(ctx, g, saved[id]), Etag: etag.Format(g.Version),
	}, nil
}

// detail adds the progress and the name of the owner, fetched concurrently.
func (s *Server) detail(ctx context.Context, g seenGoal, saved savings) *budgetv1.Goal {
	var ledgerCall sync.WaitGroup
	var zone string
	ledgerCall.Go(func() { zone = s.timeZone(ctx) })
	users := s.Members.UsersOf(ctx, nil, []sharing.Thing{g.thing()})
	ledgerCall.Wait()
	return g.proto(g.progress(saved, s.Now(), zone), users.OwnerName(g.thing()))
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

// proto converts the goal for its reader.
func (g seenGoal) proto(progress *budgetv1.GoalProgress, ownerName *string) *budgetv1.Goal {
	message := g.snapshot()
	message.Progress, message.Role, message.OwnerName = progress, string(g.role()), ownerName
	return message
}

// snapshot returns the goal as events carry it, without fields that depend on the reader.
func (g goal) snapshot() *budgetv1.Goal {
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
	}
	if g.TargetDate != nil {
		message.TargetDate = new(g.TargetDate.Format(calendar.DateLayout))
	}
	if g.ReachedAt != nil {
		message.ReachedAt = new(calendar.FormatTime(*g.ReachedAt))
	}
	return message
}
