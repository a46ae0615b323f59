package budget

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const timestamp = "2006-01-02T15:04:05.000Z"

// CreateBudget asks the ledger about the wallet and categories before it opens the transaction.
func (s *server) CreateBudget(ctx context.Context, req *budgetv1.CreateBudgetRequest) (*budgetv1.CreateBudgetResponse, error) {
	user := caller.ID(ctx)
	b, err := parseCreate(req)
	if err != nil {
		return nil, err
	}
	b.ID, b.OwnerID, b.Version, b.CreatedAt = s.newID(), user, 1, s.now().UTC()
	b.UpdatedAt = b.CreatedAt
	call := idem.Call{Scope: user.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp := &budgetv1.CreateBudgetResponse{}
	if replayed, err := idem.Replay(ctx, s.db, call, resp); err != nil || replayed {
		resp.Replayed = replayed
		return resp, err
	}
	if err := s.checkReferences(ctx, user, &b.WalletID, b.CategoryIDs); err != nil {
		return nil, err
	}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		if err := insertBudget(ctx, tx, b); err != nil {
			return duplicate(err)
		}
		if err := s.noteBudget(ctx, tx, b); err != nil {
			return err
		}
		resp.Budget, resp.Etag = b.seenByOwner().proto(), etag.Format(b.Version)
		return s.publish(ctx, tx, &budgetv1.BudgetCreated{Budget: b.proto()}, user)
	})
	if err != nil {
		return nil, err
	}
	s.wakeAlerts()
	return resp, nil
}

// ListBudgets answers with progress, but for budgets whose invitation is still pending.
func (s *server) ListBudgets(ctx context.Context, req *budgetv1.ListBudgetsRequest) (*budgetv1.ListBudgetsResponse, error) {
	var p apierr.Problems
	limit, problem := page.Limit(req.Limit)
	p.Field(problem)
	list := budgetList{user: caller.ID(ctx), statuses: []status{accepted}, before: uuid.Max, limit: limit + 1}
	switch req.GetInclude() {
	case "":
	case "invited":
		list.statuses = append(list.statuses, pending)
	default:
		p.Field(&apierr.Field{Name: "include", Message: "must be invited"})
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	today, err := s.parseAt(req.At)
	if err != nil {
		return nil, err
	}
	scope := "budgets " + list.user.String() + " " + req.GetInclude()
	if req.GetCursor() != "" {
		if err := s.cursors.Open(scope, req.GetCursor(), &list.before); err != nil {
			return nil, err
		}
	}
	budgets, err := selectBudgets(ctx, s.db, list)
	if err != nil {
		return nil, err
	}
	budgets, pagination, err := page.Cut(s.cursors, scope, budgets, limit, func(b seenBudget) any { return b.ID })
	if err != nil {
		return nil, err
	}
	return &budgetv1.ListBudgetsResponse{Budgets: s.withProgress(ctx, today, budgets), Pagination: pagination}, nil
}

func (s *server) withProgress(ctx context.Context, today time.Time, budgets []seenBudget) []*budgetv1.Budget {
	answers := make([]*budgetv1.Budget, len(budgets))
	var open []budget
	var places []int
	for i, b := range budgets {
		answers[i] = b.proto()
		if b.standing().may(readBudget) {
			open, places = append(open, b.budget), append(places, i)
		}
	}
	for i, progress := range s.progress(ctx, today, open) {
		answers[places[i]].Progress = progress
	}
	return answers
}

// GetBudget asks the ledger for the progress and auth for the members' names at the same time.
func (s *server) GetBudget(ctx context.Context, req *budgetv1.GetBudgetRequest) (*budgetv1.GetBudgetResponse, error) {
	id, err := parseBudgetID(req.GetId())
	if err != nil {
		return nil, err
	}
	today, err := s.parseAt(req.At)
	if err != nil {
		return nil, err
	}
	b, err := s.budgetFor(ctx, s.db, id, readBudget)
	if err != nil {
		return nil, err
	}
	members, err := selectMembers(ctx, s.db, memberList{budget: id, statuses: b.standing().visible(), before: newest, limit: maxMembersInBudget})
	if err != nil {
		return nil, err
	}
	answer := b.proto()
	var asking sync.WaitGroup
	asking.Go(func() { answer.Progress = s.progress(ctx, today, []budget{b.budget})[0] })
	answer.Members = s.named(ctx, members)
	asking.Wait()
	return &budgetv1.GetBudgetResponse{Budget: answer, Etag: etag.Format(b.Version)}, nil
}

// UpdateBudget makes the changes twice: to the budget as it was read, to learn what the ledger must be asked, and to the
// locked one, which somebody may have changed in the meantime.
func (s *server) UpdateBudget(ctx context.Context, req *budgetv1.UpdateBudgetRequest) (*budgetv1.UpdateBudgetResponse, error) {
	id, err := parseBudgetID(req.GetId())
	if err != nil {
		return nil, err
	}
	c, err := parseUpdate(req)
	if err != nil {
		return nil, err
	}
	before, err := s.budgetFor(ctx, s.db, id, changeBudget)
	if err != nil {
		return nil, err
	}
	if !etag.Matches(req.GetIfMatch(), before.Version) {
		return nil, apierr.VersionMismatch
	}
	var p apierr.Problems
	c.apply(&p, before.budget)
	if err := p.Err(); err != nil {
		return nil, err
	}
	wallet, categories := c.newReferences(before.budget)
	if err := s.checkReferences(ctx, before.OwnerID, wallet, categories); err != nil {
		return nil, err
	}
	resp := &budgetv1.UpdateBudgetResponse{}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		b, err := s.change(ctx, tx, id, req.GetIfMatch(), c)
		if err != nil {
			return err
		}
		resp.Budget, resp.Etag = b.proto(), etag.Format(b.Version)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.wakeAlerts()
	return resp, nil
}

func (s *server) change(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string, c changes) (seenBudget, error) {
	b, err := s.lockedBudgetFor(ctx, tx, id, changeBudget)
	if err != nil {
		return seenBudget{}, err
	}
	if !etag.Matches(ifMatch, b.Version) {
		return seenBudget{}, apierr.VersionMismatch
	}
	before := b.budget
	var p apierr.Problems
	b.budget = c.apply(&p, before)
	if err := p.Err(); err != nil {
		return seenBudget{}, err
	}
	b.Version++
	b.UpdatedAt = s.now().UTC()
	if err := updateBudget(ctx, tx, b.budget); err != nil {
		return seenBudget{}, duplicate(err)
	}
	if err := s.noteBudget(ctx, tx, b.budget); err != nil {
		return seenBudget{}, err
	}
	members, err := selectMemberIDs(ctx, tx, id, []status{accepted})
	if err != nil {
		return seenBudget{}, err
	}
	event := &budgetv1.BudgetUpdated{UpdatedBy: b.UserID.String(), Before: before.proto(), After: b.budget.proto()}
	return b, s.publish(ctx, tx, event, append(members, b.OwnerID)...)
}

// DeleteBudget takes the memberships with it.
func (s *server) DeleteBudget(ctx context.Context, req *budgetv1.DeleteBudgetRequest) (*budgetv1.DeleteBudgetResponse, error) {
	id, err := parseBudgetID(req.GetId())
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		b, err := s.lockedBudgetFor(ctx, tx, id, deleteBudget)
		if err != nil {
			return err
		}
		if !etag.Matches(req.GetIfMatch(), b.Version) {
			return apierr.VersionMismatch
		}
		members, err := selectMemberIDs(ctx, tx, id, []status{pending, accepted})
		if err != nil {
			return err
		}
		if err := deleteBudgetRow(ctx, tx, id); err != nil {
			return err
		}
		return s.publish(ctx, tx, &budgetv1.BudgetDeleted{Budget: b.budget.proto()}, append(members, b.OwnerID)...)
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.DeleteBudgetResponse{Id: id.String()}, nil
}

// budgetFor returns a budget that the acting user may do something with.
func (s *server) budgetFor(ctx context.Context, q pg.Querier, id uuid.UUID, do action) (seenBudget, error) {
	b, err := selectBudget(ctx, q, id, caller.ID(ctx))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return seenBudget{}, errBudgetNotFound
	case err != nil:
		return seenBudget{}, err
	case !b.standing().may(do):
		return seenBudget{}, errInsufficientPermissions
	}
	return b, nil
}

// lockedBudgetFor keeps what it found true until the transaction ends.
func (s *server) lockedBudgetFor(ctx context.Context, tx pgx.Tx, id uuid.UUID, do action) (seenBudget, error) {
	if err := lockBudget(ctx, tx, id); err != nil {
		return seenBudget{}, err
	}
	return s.budgetFor(ctx, tx, id, do)
}

// newReferences is what the ledger must be asked about: an old wallet may be gone by now, and its budget stays.
func (c changes) newReferences(b budget) (wallet *uuid.UUID, categories []uuid.UUID) {
	if c.wallet != nil && *c.wallet != b.WalletID {
		wallet = c.wallet
	}
	for _, id := range c.categories {
		if !slices.Contains(b.CategoryIDs, id) {
			categories = append(categories, id)
		}
	}
	return wallet, categories
}

// checkReferences passes the ledger's refusal on: WALLET_NOT_FOUND or INVALID_CATEGORY_EXIST_PARAMS, as not found.
func (s *server) checkReferences(ctx context.Context, owner uuid.UUID, wallet *uuid.UUID, categories []uuid.UUID) error {
	if wallet == nil && len(categories) == 0 {
		return nil
	}
	req := &ledgerv1.CheckReferencesRequest{OwnerId: owner.String(), CategoryIds: idStrings(categories)}
	if wallet != nil {
		req.WalletId = wallet.String()
	}
	_, err := s.ledger.CheckReferences(ctx, req)
	return err
}

// duplicate tells the duplicate rule's violation from other errors.
func duplicate(err error) error {
	if pg.IsViolation(err, budgetsDuplicateKey) {
		return errBudgetAlreadyExists
	}
	return err
}

func (b budget) timeframe() timeframe {
	return timeframe{period: b.Period, start: b.StartDate, end: b.EndDate}
}

func (b budget) currency() money.Currency {
	c, _ := money.ParseCurrency(b.Currency)
	return c
}

func (b budget) seenByOwner() seenBudget { return seenBudget{budget: b, UserID: b.OwnerID} }

// proto is the budget as events tell of it.
func (b budget) proto() *budgetv1.Budget {
	m := &budgetv1.Budget{
		Id:              b.ID.String(),
		Name:            b.Name,
		Currency:        b.Currency,
		Limit:           b.currency().Format(b.LimitMinor),
		Period:          b.Period,
		StartDate:       b.StartDate.Format(isoDate),
		WalletId:        b.WalletID.String(),
		CategoryIds:     idStrings(b.CategoryIDs),
		OwnerId:         b.OwnerID.String(),
		AlertThresholds: b.AlertThresholds,
		CreatedAt:       b.CreatedAt.UTC().Format(timestamp),
		UpdatedAt:       b.UpdatedAt.UTC().Format(timestamp),
	}
	if b.EndDate != nil {
		m.EndDate = new(b.EndDate.Format(isoDate))
	}
	return m
}

// proto adds what the budget is to the user.
func (b seenBudget) proto() *budgetv1.Budget {
	m := b.budget.proto()
	m.Role = string(owner)
	if b.Role != nil {
		m.Role = *b.Role
		m.MembershipStatus = new(string(*b.Status))
	}
	return m
}

func idStrings(ids []uuid.UUID) []string {
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = id.String()
	}
	return s
}
