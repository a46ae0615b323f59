package budget

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
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// How an alert comes about: the consumer of the ledger's events notes which budgets must be checked (noteSpending). A worker
// asks the ledger what was spent by now, and raises what was reached (raiseAlerts). Many events cost one check, and what was
// spent is never counted twice, for nothing is counted here.

const (
	checkBatch = 100
	// checkLease is how long a check that somebody began is nobody else's.
	checkLease = 10 * time.Second
	askLedger  = 5 * time.Second
)

// spending is where something changed that counts as spent.
type spending struct {
	// wallet is empty, and day zero, when a category took over transactions of any wallet and day.
	wallet, category string
	day              time.Time
}

// spendings are the changes that an event tells of. A deleted refund raises what was spent like a new expense does.
func spendings(event proto.Message) []spending {
	switch e := event.(type) {
	case *ledgerv1.TransactionCreated:
		return spendingsOf(e.GetTransaction())
	case *ledgerv1.TransactionUpdated:
		return spendingsOf(e.GetBefore(), e.GetAfter())
	case *ledgerv1.TransactionDeleted:
		return spendingsOf(e.GetTransaction())
	case *ledgerv1.CategoryDeleted:
		return []spending{{category: e.GetReassignedTo()}}
	}
	return nil
}

func spendingsOf(transactions ...*ledgerv1.Transaction) []spending {
	var changed []spending
	for _, t := range transactions {
		if at, err := time.Parse(time.RFC3339, t.GetDate()); err == nil {
			changed = append(changed, spending{t.GetWalletId(), t.GetCategoryId(), dayOf(at)})
		}
	}
	return changed
}

// windowOf returns the window of the budget that a change falls into, and whether its spending may raise alerts: windows in
// the future, and those that ended a window's length ago or longer, raise none.
func (b budget) windowOf(c spending, today time.Time) (window, bool) {
	if c.wallet != "" && c.wallet != b.WalletID.String() || !slices.Contains(idStrings(b.CategoryIDs), c.category) {
		return window{}, false
	}
	if c.day.IsZero() {
		w := b.timeframe().at(today)
		return w, w.alerts(today)
	}
	w := b.timeframe().at(c.day)
	return w, !c.day.Before(w.from) && !c.day.After(w.to) && w.alerts(today)
}

func (w window) alerts(today time.Time) bool {
	p := w.phase(today)
	return p == current || p == recent
}

// reached are the thresholds that spent has come to, in percent of the limit. Both amounts are in minor units.
func reached(thresholds []int32, spent, limit int64) []int32 {
	var hit []int32
	for _, t := range thresholds {
		// Hundreds of the limit apart from the rest, for a limit of 16 digits times 1000 overflows.
		if spent >= limit/100*int64(t)+(limit%100*int64(t)+99)/100 {
			hit = append(hit, t)
		}
	}
	return hit
}

// noteSpending has those budgets checked that events may bring to a threshold.
func (s *server) noteSpending(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	var owners []uuid.UUID
	changes := make([][]spending, len(events))
	for i, e := range events {
		if changes[i] = spendings(e.Data); len(changes[i]) > 0 {
			owners = append(owners, e.UserID)
		}
	}
	if len(owners) == 0 {
		return nil
	}
	budgets, err := selectAlertingBudgets(ctx, tx, owners)
	if err != nil {
		return err
	}
	today, due := dayOf(s.now()), map[check]bool{}
	for i, e := range events {
		for _, changed := range changes[i] {
			for _, b := range budgets {
				if w, counts := b.windowOf(changed, today); counts && b.OwnerID == e.UserID {
					due[check{b.ID, w.from}] = true
				}
			}
		}
	}
	return upsertChecks(ctx, tx, slices.SortedFunc(maps.Keys(due), compareChecks))
}

func compareChecks(a, b check) int {
	return cmp.Or(bytes.Compare(a.BudgetID[:], b.BudgetID[:]), a.Day.Compare(b.Day))
}

// noteBudget notes a check of a new or changed budget, if its present window may raise alerts. tx holds its lock.
func (s *server) noteBudget(ctx context.Context, tx pgx.Tx, b budget) error {
	if len(b.AlertThresholds) == 0 {
		return nil
	}
	today := dayOf(s.now())
	w := b.timeframe().at(today)
	if !w.alerts(today) {
		return nil
	}
	return upsertChecks(ctx, tx, []check{{b.ID, w.from}})
}

// raiseAlerts checks budgets until ctx ends.
func (s *server) raiseAlerts(ctx context.Context) {
	for ctx.Err() == nil {
		checked, err := s.checkBudgets(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "checking budgets", "error", err)
		}
		if checked == checkBatch {
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.spent:
		}
	}
}

// wakeAlerts spares a check its pause.
func (s *server) wakeAlerts() {
	select {
	case s.spent <- struct{}{}:
	default:
	}
}

// checkBudgets does what is due, and returns how much that was. What fails comes again when its lease has ended.
func (s *server) checkBudgets(ctx context.Context) (int, error) {
	due, err := claimChecks(ctx, s.db, s.now(), checkBatch)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	budgets, windows := make([]budget, len(due)), make([]window, len(due))
	for i, c := range due {
		budgets[i], windows[i] = c.budget, c.timeframe().at(c.Day)
	}
	asking, cancel := context.WithTimeout(ctx, askLedger)
	defer cancel()
	spendings, err := s.sumSpending(asking, budgets, windows)
	if err != nil {
		return 0, fmt.Errorf("asking what was spent: %w", err)
	}
	for i, c := range due {
		if err := pg.InTx(ctx, s.db, func(tx pgx.Tx) error { return s.settle(ctx, tx, c, windows[i], spendings[i]) }); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// settle raises the alerts of a checked budget, each once in a window: a row in alerts decides. A window that has ended is
// summarized: of all thresholds that a batch of changes reached, only the highest is published.
func (s *server) settle(ctx context.Context, tx pgx.Tx, c claimedCheck, w window, spending *ledgerv1.Spending) error {
	if err := lockBudget(ctx, tx, c.ID); err != nil {
		return err
	}
	b, err := selectBudget(ctx, tx, c.ID, c.OwnerID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if b.Version != c.Version {
		// The answer is to an old question. The change has noted the check anew.
		return nil
	}
	spent := spentOf(spending.GetAmounts(), b.Currency)
	phase := w.phase(dayOf(s.now()))
	if phase != current && phase != recent {
		return deleteCheck(ctx, tx, c)
	}
	fresh, err := insertAlerts(ctx, tx, b.ID, w.from, reached(b.AlertThresholds, spent, b.LimitMinor), s.now().UTC())
	if err != nil {
		return err
	}
	if phase == recent && len(fresh) > 1 {
		fresh = fresh[len(fresh)-1:]
	}
	if len(fresh) > 0 {
		members, err := selectMemberIDs(ctx, tx, b.ID, []status{accepted})
		if err != nil {
			return err
		}
		for _, threshold := range fresh {
			if err := s.publish(ctx, tx, b.thresholdReached(threshold, w, spent), append(members, b.OwnerID)...); err != nil {
				return err
			}
		}
	}
	return deleteCheck(ctx, tx, c)
}

func (b budget) thresholdReached(threshold int32, w window, spent int64) *budgetv1.BudgetThresholdReached {
	return &budgetv1.BudgetThresholdReached{
		BudgetId: b.ID.String(), BudgetName: b.Name, OwnerId: b.OwnerID.String(), Threshold: threshold,
		WindowStart: w.from.Format(isoDate), WindowEnd: w.to.Format(isoDate), Currency: b.Currency,
		Limit: b.currency().Format(b.LimitMinor), Spent: b.currency().Format(spent),
	}
}
