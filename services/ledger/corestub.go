//go:build ledgercore

package ledger

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

//go:embed migrations/*.sql
var Migrations embed.FS

type server struct {
	ledgerv1.UnimplementedLedgerServiceServer
	db    *pgxpool.Pool
	ocr   ocrv1.OCRServiceClient
	log   *slog.Logger
	now   func() time.Time
	newID func() uuid.UUID
}

var (
	errWalletNotFound         = apierr.New(codes.NotFound, "WALLET_NOT_FOUND", "Wallet not found")
	errInvalidWalletID        = apierr.New(codes.InvalidArgument, "WALLET_NOT_FOUND", "Wallet not found")
	errCategoryNotFound       = apierr.New(codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", "Invalid or unknown category")
	errInvalidCategoryID      = apierr.New(codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS", "Invalid or unknown category")
	errUnsupportedCurrency    = apierr.New(codes.InvalidArgument, "UNSUPPORTED_CURRENCY", "Unsupported currency")
	errInvalidTransactionDate = apierr.New(codes.InvalidArgument, "INVALID_TRANSACTION_DATE", "Invalid transaction date")

	errReceiptFileRequired = apierr.New(codes.InvalidArgument, "RECEIPT_FILE_REQUIRED", "A receipt file is required")
	errReceiptDuplicate    = apierr.New(codes.AlreadyExists, "RECEIPT_DUPLICATE", "The same receipt file was uploaded before")
	errInvalidReceiptID    = apierr.New(codes.InvalidArgument, "INVALID_RECEIPT_ID", "Invalid receipt id")
	errReceiptNotFound     = apierr.New(codes.NotFound, "RECEIPT_NOT_FOUND", "Receipt not found")
	errOCRParse            = apierr.New(codes.Internal, "OCR_PARSE_FAILED", "The receipt could not be read")
	errOCRResponse         = apierr.New(codes.Internal, "OCR_RESPONSE_FAILED", "The receipt recognition service failed")
)

type transaction struct {
	ID          uuid.UUID
	OwnerID     uuid.UUID `db:"owner_id"`
	AmountMinor int64     `db:"amount_minor"`
	Description string
	Date        time.Time
	Currency    string
	WalletID    uuid.UUID  `db:"wallet_id"`
	CategoryID  uuid.UUID  `db:"category_id"`
	ReceiptID   *uuid.UUID `db:"receipt_id"`
	Version     int64
	CreatedAt   time.Time `db:"created_at"`
	UpdatedAt   time.Time `db:"updated_at"`
}

const transactionColumns = `t.id, t.owner_id, t.amount_minor, t.description, t.date, t.currency, t.wallet_id, t.category_id, t.receipt_id, t.version, t.created_at, t.updated_at`

type wallet struct {
	ID       uuid.UUID
	OwnerID  uuid.UUID `db:"owner_id"`
	Name     string
	Currency string
}

func currencyOf(code string) money.Currency { c, _ := money.ParseCurrency(code); return c }

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (t transaction) proto() *ledgerv1.Transaction {
	kind := "income"
	if t.AmountMinor < 0 {
		kind = "expense"
	}
	m := &ledgerv1.Transaction{Id: t.ID.String(), Amount: currencyOf(t.Currency).Format(t.AmountMinor), Description: t.Description, Date: formatTime(t.Date), Currency: t.Currency, WalletId: t.WalletID.String(), CategoryId: t.CategoryID.String(), Type: kind, CreatedAt: formatTime(t.CreatedAt), UpdatedAt: formatTime(t.UpdatedAt)}
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

func (s *server) createTransactions(ctx context.Context, tx pgx.Tx, owner uuid.UUID, ts []transaction) error {
	for _, t := range ts {
		if _, err := tx.Exec(ctx, `INSERT INTO transactions VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,1,$10,$11)`, t.ID, owner, t.AmountMinor, t.Description, t.Date, t.Currency, t.WalletID, t.CategoryID, t.ReceiptID, t.CreatedAt, t.UpdatedAt); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO wallet_balances AS b VALUES ($1,$2,$3) ON CONFLICT (wallet_id, currency) DO UPDATE SET amount_minor = b.amount_minor + EXCLUDED.amount_minor`, t.WalletID, t.Currency, t.AmountMinor); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO monthly_totals AS m VALUES ($1,date_trunc('month',$2::timestamptz,'UTC')::date,$3,$4,$5,greatest($6::bigint,0),greatest(-$6::bigint,0),1) ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE SET income_minor = m.income_minor + EXCLUDED.income_minor, expense_minor = m.expense_minor + EXCLUDED.expense_minor, transaction_count = m.transaction_count + 1`, owner, t.Date, t.WalletID, t.CategoryID, t.Currency, t.AmountMinor); err != nil {
			return err
		}
		if err := outbox.Add(ctx, tx, outbox.Event{ID: s.newID(), UserID: owner, Subject: "ledger.v1.transaction.created", Data: &ledgerv1.TransactionCreated{OwnerId: owner.String(), Transaction: t.proto()}}); err != nil {
			return err
		}
	}
	return nil
}

func ownReferences(ctx context.Context, q pg.Querier, u upload) (wallet, error) {
	w, err := pg.One[wallet](ctx, q, `SELECT id, owner_id, name, currency FROM wallets WHERE id = $1 AND owner_id = $2`, u.wallet, u.owner)
	if errors.Is(err, pgx.ErrNoRows) {
		return w, errWalletNotFound
	}
	if err != nil {
		return w, err
	}
	type row struct{ ID uuid.UUID }
	_, err = pg.One[row](ctx, q, `SELECT id FROM categories WHERE id = $1 AND owner_id = $2`, u.category, u.owner)
	if errors.Is(err, pgx.ErrNoRows) {
		return w, errCategoryNotFound
	}
	return w, err
}

func parseID(s string) (uuid.UUID, bool) {
	if len(s) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(s)
	return id, err == nil
}

func parseReference(p *problems, field, s string, malformed *apierr.Error) uuid.UUID {
	if strings.TrimSpace(s) == "" {
		p.field(&apierr.Field{Name: field, Message: "is required"})
		return uuid.Nil
	}
	id, ok := parseID(s)
	if !ok {
		p.add(malformed.With(field, "must be an id"))
	}
	return id
}

func parseBound(p *problems, field, s string, wholeDay bool) time.Time {
	if d, err := time.Parse(dateLayout, s); err == nil {
		if wholeDay {
			return d.AddDate(0, 0, 1)
		}
		return d
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		p.add(errInvalidTransactionDate.With(field, "must be RFC 3339 or YYYY-MM-DD"))
	}
	t = t.UTC().Truncate(time.Microsecond)
	if wholeDay {
		t = t.Add(time.Microsecond)
	}
	return t
}

type problems struct {
	fields   []apierr.Field
	specific []*apierr.Error
}

func (p *problems) field(f *apierr.Field) {
	if f != nil {
		p.fields = append(p.fields, *f)
	}
}
func (p *problems) add(e *apierr.Error) { p.specific = append(p.specific, e) }
func (p *problems) has(e *apierr.Error) bool {
	return slices.ContainsFunc(p.specific, func(s *apierr.Error) bool { return errors.Is(s, e) })
}
func (p *problems) err() error {
	if len(p.fields) == 0 && len(p.specific) == 0 {
		return nil
	}
	e := &apierr.Error{}
	if len(p.fields) > 0 {
		e = apierr.Validation(p.fields)
	} else {
		*e = *p.specific[0]
		e.Fields = nil
	}
	for _, s := range p.specific {
		e.Fields = append(e.Fields, s.Fields...)
	}
	return e
}
