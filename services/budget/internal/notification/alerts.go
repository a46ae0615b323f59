package notification

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/spending"
)

const (
	// checkBatch limits the windows in one request to the ledger.
	checkBatch = 100
	// checkLease is longer than ledgerTimeout, so that two workers rarely do the same check.
	checkLease    = 10 * time.Second
	ledgerTimeout = 5 * time.Second
)

// reached returns the thresholds, in percent of the limit, that the spending has reached. Amounts
// are in minor units. They are rounded up: a threshold is reached when the exact share of the limit
// is spent. The result is ascending, like the thresholds.
func reached(thresholds []int32, spent, limit int64) []int32 {
	var hit []int32
	for _, t := range thresholds {
		// The hundreds of the limit are multiplied separately, so that no product overflows.
		if spent >= limit/100*int64(t)+(limit%100*int64(t)+99)/100 {
			hit = append(hit, t)
		}
	}
	return hit
}

// QueueChecks queues a check of each budget and window whose spending may have changed by the
// events. It must run in the transaction that acknowledges the events, so that no check is lost.
func (s *Server) QueueChecks(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	var owners []uuid.UUID
	changes := make([][]change, len(events))
	for i, event := range events {
		if changes[i] = changesOf(event.Data); len(changes[i]) > 0 {
			owners = append(owners, event.UserID)
		}
	}
	if len(owners) == 0 {
		return nil
	}
	// The number of budgets is limited per owner.
	budgets, err := selectBudgetsWithThresholds(ctx, tx, owners)
	if err != nil {
		return err
	}
	// The zones of the owners are not known here. The ledger reports them to the check, which
	// decides again.
	todays := calendar.Todays(s.now())
	due := map[check]bool{}
	for i, event := range events {
		for _, change := range changes[i] {
			for _, b := range budgets {
				if b.OwnerID != event.UserID {
					continue
				}
				for _, today := range todays {
					for _, w := range b.windowsOf(change, today) {
						due[check{b.ID, w.From}] = true
					}
				}
			}
		}
	}
	return upsertChecks(ctx, tx, slices.SortedFunc(maps.Keys(due), compareChecks))
}

// compareChecks orders checks like the primary key of their table. upsertChecks needs this order,
// so that two batches with the same budgets cannot deadlock.
func compareChecks(a, b check) int {
	return cmp.Or(bytes.Compare(a.BudgetID[:], b.BudgetID[:]), a.Day.Compare(b.Day))
}

// QueueCheck queues a check of a new or changed budget that has thresholds, if its window of today
// may raise alerts. If the day is not the same in all time zones, it queues a check for each,
// because the check itself learns the owner's zone. tx must hold the budget's lock.
func (s *Server) QueueCheck(
	ctx context.Context, tx pgx.Tx, budgetID uuid.UUID, t spending.Timeframe,
) error {
	todays := calendar.Todays(s.now())
	var checks []check
	for _, w := range t.Windows(todays...) {
		raises := func(today time.Time) bool { return raisesAlerts(w, today) }
		if slices.ContainsFunc(todays, raises) {
			checks = append(checks, check{budgetID, w.From})
		}
	}
	return upsertChecks(ctx, tx, checks)
}

// CheckBudgets does one batch of due checks and returns their number. A failed check is repeated
// when its lease has expired. Several replicas may run it: each claims different checks.
func (s *Server) CheckBudgets(ctx context.Context) (int, error) {
	// The leases are committed here, because the ledger must not be called within a transaction.
	due, err := claimChecks(ctx, s.db, s.now())
	if err != nil || len(due) == 0 {
		return 0, err
	}
	queries := make([]spending.Query, len(due))
	for i, c := range due {
		queries[i] = spending.Query{
			Owner: c.OwnerID, Wallet: c.WalletID, Categories: c.CategoryIDs,
			Window: c.timeframe().At(c.Day),
		}
	}
	asking, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	spendings, err := spending.Sum(asking, s.ledger, queries)
	if err != nil {
		return 0, fmt.Errorf("asking the ledger for the spending: %w", err)
	}
	for i, c := range due {
		err := pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
			return s.settle(ctx, tx, c, queries[i].Window, spendings[i])
		})
		if err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// settle raises the alerts of a checked budget and deletes the check. A row in alerts decides that
// each threshold is raised once per window. A window that has ended is summarized: only the highest
// threshold that was reached since the last check is published.
func (s *Server) settle(
	ctx context.Context, tx pgx.Tx, check claimedCheck, period calendar.Period,
	spent *ledgerv1.Spending,
) error {
	budget, err := lockBudget(ctx, tx, check.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if budget.Version != check.Version {
		// The budget changed after the ledger was asked. The change has queued the check again.
		return nil
	}
	today := calendar.Today(s.now(), spent.GetTimeZone())
	if !raisesAlerts(period, today) {
		return deleteCheck(ctx, tx, check)
	}
	// A wallet that was deleted has no amounts, so it reaches nothing.
	amount := spending.AmountIn(spent.GetAmounts(), budget.Currency)
	hit := reached(budget.AlertThresholds, amount, budget.LimitMinor)
	raised, err := insertAlerts(ctx, tx, budget.ID, period.From, hit, s.now().UTC())
	if err != nil {
		return err
	}
	if spending.PhaseOf(period, today) == spending.Recent && len(raised) > 1 {
		raised = raised[len(raised)-1:]
	}
	if len(raised) > 0 {
		members, err := selectAcceptedMembers(ctx, tx, budget.ID)
		if err != nil {
			return err
		}
		members = append(members, budget.OwnerID)
		for _, threshold := range raised {
			event := budget.thresholdReached(threshold, period, amount)
			if err := s.Publish(ctx, tx, event, members...); err != nil {
				return err
			}
		}
	}
	return deleteCheck(ctx, tx, check)
}

func (b budget) thresholdReached(
	threshold int32, period calendar.Period, spent int64,
) *budgetv1.BudgetThresholdReached {
	return &budgetv1.BudgetThresholdReached{
		BudgetId: b.ID.String(), BudgetName: b.Name, OwnerId: b.OwnerID.String(),
		Threshold: threshold, Currency: b.Currency,
		WindowStart: period.From.Format(calendar.DateLayout),
		WindowEnd:   period.LastDay().Format(calendar.DateLayout),
		Limit:       b.currency().Format(b.LimitMinor),
		Spent:       b.currency().Format(spent),
	}
}
