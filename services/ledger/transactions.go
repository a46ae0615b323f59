package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// The values of a transaction's type.
const (
	expense = "expense"
	income  = "income"
)

// CreateTransaction books an amount. Without an idempotency key it is one statement, and so one round trip and commit.
func (s *server) CreateTransaction(ctx context.Context, req *ledgerv1.CreateTransactionRequest) (*ledgerv1.CreateTransactionResponse, error) {
	t, err := parseTransaction(req)
	if err != nil {
		return nil, err
	}
	t.ID, t.OwnerID, t.Version, t.CreatedAt = s.newID(), caller.ID(ctx), 1, s.now()
	t.UpdatedAt = t.CreatedAt
	resp := &ledgerv1.CreateTransactionResponse{Transaction: t.proto(), Etag: etag.Format(t.Version)}
	if req.GetIdempotencyKey() == "" {
		err = pg.Retry(func() error { return s.createTransactions(ctx, s.db, []transaction{t}) })
	} else {
		call := idem.Call{Scope: t.OwnerID.String(), Key: req.GetIdempotencyKey(), Request: req}
		resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
			return s.createTransactions(ctx, tx, []transaction{t})
		})
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// createTransactions books transactions of one owner. More than one must be in a database transaction, which an error
// must end: those whose wallet and category are the owner's are written.
func (s *server) createTransactions(ctx context.Context, q pg.Querier, ts []transaction) error {
	events := make([]outbox.Event, len(ts))
	for i, t := range ts {
		events[i] = s.event(t.OwnerID, &ledgerv1.TransactionCreated{OwnerId: t.OwnerID.String(), Transaction: t.proto()})
	}
	rows, err := outbox.Encode(events...)
	if err != nil {
		return err
	}
	written, err := insertTransactions(ctx, q, ts, rows)
	if err != nil {
		return unbookable(err)
	}
	for _, t := range ts {
		if written[t.ID] {
			continue
		}
		if _, err := checkOwn(ctx, q, t.OwnerID, t.WalletID, t.CategoryID); err != nil {
			return err
		}
		// They have come into being in between.
		return apierr.Unavailable
	}
	return nil
}

// GetTransaction tells another user's transaction from one that does not exist.
func (s *server) GetTransaction(ctx context.Context, req *ledgerv1.GetTransactionRequest) (*ledgerv1.GetTransactionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransactionID
	}
	t, err := ownTransaction(ctx, s.db, id, selectTransaction)
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetTransactionResponse{Transaction: t.proto(), Etag: etag.Format(t.Version)}, nil
}

// UpdateTransaction takes the old state out of balances and totals and books the new one.
func (s *server) UpdateTransaction(ctx context.Context, req *ledgerv1.UpdateTransactionRequest) (*ledgerv1.UpdateTransactionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransactionID
	}
	c, err := parseTransactionUpdate(req)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.UpdateTransactionResponse{}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		t, err := s.changeTransaction(ctx, tx, id, req.GetIfMatch(), c)
		if err != nil {
			return err
		}
		resp.Transaction, resp.Etag = t.proto(), etag.Format(t.Version)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func (s *server) changeTransaction(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string, c changes) (transaction, error) {
	before, err := basedTransaction(ctx, tx, id, ifMatch)
	if err != nil {
		return transaction{}, err
	}
	var p apierr.Problems
	after := c.apply(&p, before)
	if err := p.Err(); err != nil {
		return transaction{}, err
	}
	if c.wallet != nil || c.category != nil {
		if _, err := checkOwn(ctx, tx, after.OwnerID, after.WalletID, after.CategoryID); err != nil {
			return transaction{}, err
		}
	}
	after.Version++
	after.UpdatedAt = s.now()
	if err := updateTransaction(ctx, tx, after); err != nil {
		return transaction{}, unbookable(err)
	}
	if !before.booksAs(after) {
		if err := bookMoves(ctx, tx, before.reversed(), after.move()); err != nil {
			return transaction{}, unbookable(err)
		}
	}
	event := &ledgerv1.TransactionUpdated{OwnerId: after.OwnerID.String(), Before: before.proto(), After: after.proto()}
	return after, s.publish(ctx, tx, after.OwnerID, event)
}

// DeleteTransaction takes the transaction out of balances and totals.
func (s *server) DeleteTransaction(ctx context.Context, req *ledgerv1.DeleteTransactionRequest) (*ledgerv1.DeleteTransactionResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidTransactionID
	}
	err := pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		t, err := basedTransaction(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		if err := deleteTransaction(ctx, tx, t); err != nil {
			return err
		}
		if err := bookMoves(ctx, tx, t.reversed()); err != nil {
			return unbookable(err)
		}
		return s.publish(ctx, tx, t.OwnerID, &ledgerv1.TransactionDeleted{OwnerId: t.OwnerID.String(), Transaction: t.proto()})
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteTransactionResponse{Id: id.String()}, nil
}

// basedTransaction returns the caller's transaction, locked, in the version that the change is based on.
func basedTransaction(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string) (transaction, error) {
	t, err := ownTransaction(ctx, tx, id, lockTransaction)
	if err != nil {
		return transaction{}, err
	}
	if !etag.Matches(ifMatch, t.Version) {
		return transaction{}, apierr.VersionMismatch
	}
	return t, nil
}

func ownTransaction(ctx context.Context, q pg.Querier, id uuid.UUID, read func(context.Context, pg.Querier, uuid.UUID) (transaction, error)) (transaction, error) {
	t, err := read(ctx, q, id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return transaction{}, errTransactionNotFound
	case err != nil:
		return transaction{}, err
	case t.OwnerID != caller.ID(ctx):
		return transaction{}, errTransactionOwnerMismatch
	}
	return t, nil
}

// unbookable tells what a client can do something about: a wallet or category that was deleted at this moment, and sums
// that no column holds.
func unbookable(err error) error {
	switch {
	case pg.IsViolation(err, "transactions_wallet_fkey"), pg.IsViolation(err, "wallet_balances_wallet_fkey"):
		return errWalletNotFound
	case pg.IsViolation(err, "transactions_category_fkey"):
		return errCategoryNotFound
	case pg.IsViolation(err, "wallet_balances_amount_range"), pg.IsViolation(err, "monthly_totals_amount_range"):
		return errWalletOverflow
	}
	return err
}

// changes are the fields of a transaction that a request sets, checked as far as each can be on its own; nil: not set, or
// bad and among the problems.
type changes struct {
	amount      *string
	description *string
	date        *time.Time
	currency    *money.Currency
	wallet      *uuid.UUID
	category    *uuid.UUID
	kind        *string
}

// parseTransaction returns the transaction that a request asks for, but for what the server adds.
func parseTransaction(req *ledgerv1.CreateTransactionRequest) (transaction, error) {
	var c changes
	var p apierr.Problems
	required := func(field, value string, set func(*apierr.Problems, string)) {
		if value == "" {
			p.Field(&apierr.Field{Name: field, Message: "is required"})
			return
		}
		set(&p, value)
	}
	required("amount", req.GetAmount(), c.setAmount)
	c.setDescription(&p, req.GetDescription())
	required("date", req.GetDate(), c.setDate)
	required("currency", req.GetCurrency(), c.setCurrency)
	required("walletId", req.GetWalletId(), c.setWallet)
	required("categoryId", req.GetCategoryId(), c.setCategory)
	if req.Type != nil {
		c.setKind(&p, req.GetType())
	}
	t := c.apply(&p, transaction{})
	return t, p.Err()
}

func parseTransactionUpdate(req *ledgerv1.UpdateTransactionRequest) (changes, error) {
	var c changes
	var p apierr.Problems
	some := false
	optional := func(value *string, set func(*apierr.Problems, string)) {
		if value != nil {
			some = true
			set(&p, *value)
		}
	}
	optional(req.Amount, c.setAmount)
	optional(req.Description, c.setDescription)
	optional(req.Date, c.setDate)
	optional(req.Currency, c.setCurrency)
	optional(req.WalletId, c.setWallet)
	optional(req.CategoryId, c.setCategory)
	optional(req.Type, c.setKind)
	if !some {
		return changes{}, apierr.EmptyUpdate
	}
	return c, p.Err()
}

// setAmount leaves the number as it is: which decimals it may have depends on the currency, which may be the old one.
func (c *changes) setAmount(p *apierr.Problems, s string) {
	if problem := amountProblem(money.ParseDecimal(s, mostDecimals)); problem != "" {
		p.Field(&apierr.Field{Name: "amount", Message: problem})
		return
	}
	c.amount = &s
}

func (c *changes) setDescription(p *apierr.Problems, s string) {
	description, problem := text.Description("description", s)
	p.Field(problem)
	c.description = &description
}

func (c *changes) setDate(p *apierr.Problems, s string) {
	date, _, ok := parseTime(s)
	if !ok {
		p.Add(errInvalidTransactionDate.With("date", "must be RFC 3339 or YYYY-MM-DD, of the years 1900 to 2200"))
	}
	c.date = &date
}

func (c *changes) setCurrency(p *apierr.Problems, s string) {
	if currency := parseCurrency(p, "currency", s); currency != (money.Currency{}) {
		c.currency = &currency
	}
}

func (c *changes) setWallet(p *apierr.Problems, s string) {
	c.wallet = new(parseID(p, "walletId", s, errInvalidWalletID))
}

func (c *changes) setCategory(p *apierr.Problems, s string) {
	c.category = new(parseID(p, "categoryId", s, errInvalidCategoryID))
}

func (c *changes) setKind(p *apierr.Problems, s string) {
	if s != expense && s != income {
		p.Add(errInvalidTransactionType.With("type", "must be expense or income"))
	}
	c.kind = &s
}

// apply returns the transaction with the changes made, and adds what is wrong with the result as a whole. The sign follows
// the resulting type: that of the request, else the one that t had, else income.
func (c changes) apply(p *apierr.Problems, t transaction) transaction {
	old, negative := currencyOf(t.Currency), t.AmountMinor < 0
	if c.description != nil {
		t.Description = *c.description
	}
	if c.date != nil {
		t.Date = *c.date
	}
	if c.wallet != nil {
		t.WalletID = *c.wallet
	}
	if c.category != nil {
		t.CategoryID = *c.category
	}
	if c.currency != nil {
		t.Currency = c.currency.Code()
	}
	amount := c.amount
	if amount == nil && t.AmountMinor != 0 && t.Currency != old.Code() {
		// The amount stays what it was in major units: 100 USD become 100 EUR, and 0.50 USD cannot become JPY.
		amount = new(old.Format(max(t.AmountMinor, -t.AmountMinor)))
	}
	if amount != nil && t.Currency != "" {
		minor, err := currencyOf(t.Currency).Parse(*amount)
		if problem := amountProblem(minor, err); problem != "" {
			p.Field(&apierr.Field{Name: "amount", Message: problem})
		}
		t.AmountMinor = minor
	}
	if c.kind != nil {
		negative = *c.kind == expense
	}
	t.AmountMinor = max(t.AmountMinor, -t.AmountMinor)
	if negative {
		t.AmountMinor = -t.AmountMinor
	}
	return t
}

// amountProblem judges what a client gave as an amount; empty: nothing is wrong.
func amountProblem(n int64, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case n <= 0:
		return "must be greater than 0"
	}
	return ""
}

func (t transaction) proto() *ledgerv1.Transaction {
	m := &ledgerv1.Transaction{
		Id:          t.ID.String(),
		Amount:      currencyOf(t.Currency).Format(t.AmountMinor),
		Description: t.Description,
		Date:        formatTime(t.Date),
		Currency:    t.Currency,
		WalletId:    t.WalletID.String(),
		CategoryId:  t.CategoryID.String(),
		Type:        income,
		CreatedAt:   formatTime(t.CreatedAt),
		UpdatedAt:   formatTime(t.UpdatedAt),
	}
	if t.AmountMinor < 0 {
		m.Type = expense
	}
	if t.ReceiptID != nil {
		m.ReceiptId = new(t.ReceiptID.String())
	}
	return m
}

func transactionsProto(ts []transaction) []*ledgerv1.Transaction {
	out := make([]*ledgerv1.Transaction, len(ts))
	for i, t := range ts {
		out[i] = t.proto()
	}
	return out
}
