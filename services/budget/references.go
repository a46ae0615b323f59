package budget

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// The ledger does not delete a category that a budget uses, so it must know the categories of
// budgets. A write of a budget first reserves its categories there. A trigger then queues the
// budget in reference_syncs, and a worker (syncs) reports the budget's current categories to the
// ledger. The response repairs the budget if a category was merged or deleted.

const (
	// syncBatch is the maximum of the RPC.
	syncBatch = 100
	// syncLease is longer than syncTimeout, so that two workers rarely report the same budget. The
	// ledger ignores an older report.
	syncLease   = 10 * time.Second
	syncTimeout = 5 * time.Second
)

// reservation identifies categories that the ledger keeps for an attempt to write a budget. The
// zero value has none.
type reservation struct{ id, owner, budget uuid.UUID }

// reserve checks that wallet and categories are the owner's, and reserves the categories for the
// budget. It returns the ledger's errors, WALLET_NOT_FOUND and INVALID_CATEGORY_EXIST_PARAMS. The
// caller must release the reservation after the attempt to write the budget, successful or not.
func (s *server) reserve(
	ctx context.Context, owner, budget uuid.UUID, wallet *uuid.UUID, categories []uuid.UUID,
) (reservation, error) {
	// A request without categories, such as a change of the wallet, has nothing to reserve.
	var r reservation
	if len(categories) > 0 {
		r = reservation{id: s.newID(), owner: owner, budget: budget}
	}
	if err := s.checkReferences(ctx, owner, wallet, categories, r); err != nil {
		return reservation{}, err
	}
	return r, nil
}

// checkReferences checks that wallet and categories are the owner's, and reserves the categories
// unless reservation is the zero value.
func (s *server) checkReferences(
	ctx context.Context, owner uuid.UUID, wallet *uuid.UUID, categories []uuid.UUID,
	reservation reservation,
) error {
	if wallet == nil && len(categories) == 0 {
		return nil
	}
	req := &ledgerv1.CheckReferencesRequest{
		OwnerId: owner.String(), CategoryIds: idStrings(categories),
	}
	if wallet != nil {
		req.WalletId = wallet.String()
	}
	if reservation.id != uuid.Nil {
		req.BudgetId, req.Reservation = reservation.budget.String(), reservation.id.String()
	}
	_, err := s.ledger.CheckReferences(ctx, req)
	return err
}

// referenceProblems returns the problems of an invalid request, and adds to them the wallet and
// categories that the ledger rejects. They are omitted if the ledger is unavailable.
func (s *server) referenceProblems(
	ctx context.Context, p apierr.Problems,
	owner uuid.UUID, wallet *uuid.UUID, categories []uuid.UUID,
) error {
	e := apierr.From(s.checkReferences(ctx, owner, wallet, categories, reservation{}))
	if e != nil && e.Code == codes.NotFound {
		p.Include(e)
	}
	return p.Err()
}

// release queues the settlement of a reservation. If that fails, the reservation expires at the
// ledger after a day.
func (s *server) release(ctx context.Context, reservation reservation) {
	if reservation.id == uuid.Nil {
		return
	}
	// The reservation must be released also if the client has disconnected.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), optionalTimeout)
	defer cancel()
	if err := queueSettlement(ctx, s.db, reservation); err != nil {
		s.log.WarnContext(ctx, "failed to release reserved categories",
			"budget", reservation.budget, "error", err)
	}
	s.syncs.Wake()
}

// newSyncs returns the worker that reports changed budgets to the ledger. Several replicas may run
// it: each claims different rows.
func (s *server) newSyncs() *jobs.Worker {
	const failure = "failed to report the categories of budgets to the ledger"
	return jobs.NewWorker(jobs.PollInterval, s.log, failure,
		func(ctx context.Context) (more bool, err error) {
			due, err := claimSyncs(ctx, s.db, s.now())
			if err != nil {
				return false, err
			}
			// A full batch suggests that more are due.
			return len(due) == syncBatch, s.sync(ctx, due)
		})
}

// syncNow reports one budget, so that a category that it no longer uses can be deleted immediately.
// It is best effort: the worker repeats a failed report.
func (s *server) syncNow(ctx context.Context, budget uuid.UUID) {
	ctx, cancel := context.WithTimeout(ctx, optionalTimeout)
	defer cancel()
	// It takes the row even if a worker has leased it: that worker may have read the budget before
	// this change.
	due, err := claimSync(ctx, s.db, budget, s.now())
	if err == nil {
		err = s.sync(ctx, due)
	}
	if err != nil {
		s.log.WarnContext(ctx, "failed to report the categories of a budget to the ledger",
			"budget", budget, "error", err)
		s.syncs.Wake()
	}
}

// sync reports budgets to the ledger and applies the response. Budgets are read after their rows
// were claimed: a change that is not read here has a higher seq, so its row stays.
func (s *server) sync(ctx context.Context, due []referenceSync) error {
	if len(due) == 0 {
		return nil
	}
	budgets, err := selectSyncedBudgets(ctx, s.db, due)
	if err != nil {
		return err
	}
	due = groupByOwner(due)
	req := &ledgerv1.SyncReferencesRequest{}
	for _, next := range due {
		// A deleted budget is the zero value. It has no categories, so the ledger releases all
		// of them.
		b := budgets[next.BudgetID]
		req.Budgets = append(req.Budgets, &ledgerv1.BudgetReferences{
			OwnerId: next.OwnerID.String(), BudgetId: next.BudgetID.String(), Version: b.Version,
			CategoryIds:         idStrings(b.CategoryIDs),
			SettledReservations: idStrings(next.Reservations),
		})
	}
	asking, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	resp, err := s.ledger.SyncReferences(asking, req)
	if err != nil {
		return err
	}
	recorded := len(resp.GetBudgets())
	if recorded > len(due) {
		return fmt.Errorf("the ledger returned %d budgets for %d", recorded, len(due))
	}
	// The ledger may have recorded the first budgets only. The others are repeated after the lease.
	// Each budget has its own transaction, so that a failure does not repeat the others.
	var errs []error
	for i, next := range due[:recorded] {
		errs = append(errs, pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
			current := resp.GetBudgets()[i].GetCategoryIds()
			return s.applyCurrent(ctx, tx, next, budgets[next.BudgetID], current)
		}))
	}
	return errors.Join(errs...)
}

// groupByOwner groups syncs by owner: the ledger records the successive budgets of an owner
// together. The owners are in random order, so that the ledger does not always end at the same one,
// if it ends early.
func groupByOwner(syncs []referenceSync) []referenceSync {
	owners := map[uuid.UUID][]referenceSync{}
	for _, s := range syncs {
		owners[s.OwnerID] = append(owners[s.OwnerID], s)
	}
	return slices.Concat(slices.Collect(maps.Values(owners))...)
}

// applyCurrent stores the categories that the ledger returned for a budget, and deletes the row of
// the sync. If the budget's categories changed since, its next sync repairs it. If it fails, the
// row stays, and the report is repeated after the lease.
func (s *server) applyCurrent(
	ctx context.Context, tx pgx.Tx, due referenceSync, synced budget, current []string,
) error {
	held := synced.CategoryIDs
	categories, lost, err := currentCategories(held, current)
	if err != nil {
		return err
	}
	// This is the usual case. It needs no lock.
	if len(lost) == 0 && slices.Equal(categories, held) {
		return deleteSync(ctx, tx, due)
	}
	if err := s.members.Lock(ctx, tx, due.BudgetID); err != nil {
		return err
	}
	seen, err := selectBudget(ctx, tx, due.BudgetID, due.OwnerID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !slices.Equal(seen.CategoryIDs, held) {
		return deleteSync(ctx, tx, due)
	}
	if err != nil {
		return err
	}
	after := seen.budget
	// A budget must have a category. If all are lost it keeps them, and counts no spending.
	if len(categories) > 0 {
		after.CategoryIDs = categories
		if after, err = s.replace(ctx, tx, seen.budget, after, seen.OwnerID); err != nil {
			return err
		}
	}
	if len(lost) > 0 {
		event := after.categoriesLost(lost, categories)
		if err := s.notifications.Publish(ctx, tx, event, seen.OwnerID); err != nil {
			return err
		}
	}
	return deleteSync(ctx, tx, due)
}

// currentCategories returns the categories that a budget should have, each once, and the held
// categories that no longer exist. current has one id for each held category: the category that
// replaces it, or "" if it no longer exists. An empty list changes nothing.
func currentCategories(held []uuid.UUID, current []string) (kept, lost []uuid.UUID, err error) {
	if len(current) == 0 {
		return held, nil, nil
	}
	if len(current) != len(held) {
		err := fmt.Errorf("the ledger returned %d categories for %d", len(current), len(held))
		return nil, nil, err
	}
	for i, s := range current {
		if s == "" {
			lost = append(lost, held[i])
			continue
		}
		id, err := uuid.Parse(s)
		if err != nil {
			return nil, nil, fmt.Errorf("reading a current category: %w", err)
		}
		if !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	return kept, lost, nil
}

// measureTimeout limits the time that a gauge may delay a scrape of the metrics.
const measureTimeout = time.Second

// measure publishes the age of the oldest queued report to the ledger, and the metrics of webhooks,
// until stop is called. While the database is unavailable, the age has no value. An alert fires if
// the ledger does not get the report for minutes.
func (s *server) measure(ctx context.Context) (stop func() error, err error) {
	stopWebhooks, err := s.webhooks.Measure(ctx)
	if err != nil {
		return nil, err
	}
	meter := otel.Meter("github.com/coffer-budget/coffer/services/budget")
	const description = "Age of the oldest budget whose categories are queued for the ledger."
	age, err := meter.Int64ObservableGauge("budget.references.age",
		metric.WithUnit("s"), metric.WithDescription(description))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, measureTimeout)
		defer cancel()
		if seconds, err := selectOldestSyncAge(ctx, s.db); err == nil {
			o.ObserveInt64(age, seconds)
		}
		return nil
	}, age)
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return func() error { return errors.Join(registered.Unregister(), stopWebhooks()) }, nil
}
