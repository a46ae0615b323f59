package transactions

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateTransactionErrors(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	for name, tc := range map[string]struct {
		change func(*createRequest)
		code   codes.Code
		reason string
		fields []string
	}{
		"nothing at all": {
			func(r *createRequest) { proto.Reset(r) },
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount", "date", "currency", "walletId", "categoryId"},
		},
		"no amount": {
			func(r *createRequest) { r.Amount = "" }, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"an amount of zero": {
			func(r *createRequest) { r.Amount = "0.00" }, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"a negative amount": {
			func(r *createRequest) { r.Amount = "-1" }, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"an amount that is none": {
			func(r *createRequest) { r.Amount = "NaN" }, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"an amount too fine": {
			func(r *createRequest) { r.Amount = "0.001" }, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"amount"},
		},
		"an amount too large": {
			func(r *createRequest) { r.Amount = "1e12" }, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
		"a description too long": {
			func(r *createRequest) { r.Description = strings.Repeat("x", 1001) },
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"description"},
		},
		"a date that is none": {
			func(r *createRequest) { r.Date = "2026-02-29" }, codes.InvalidArgument,
			"INVALID_TRANSACTION_DATE",
			[]string{"date"},
		},
		"a date too early": {
			func(r *createRequest) { r.Date = "1899-12-31" }, codes.InvalidArgument,
			"INVALID_TRANSACTION_DATE",
			[]string{"date"},
		},
		"a date too late": {
			func(r *createRequest) { r.Date = "2200-12-31T23:59:59-01:00" }, codes.InvalidArgument,
			"INVALID_TRANSACTION_DATE",
			[]string{"date"},
		},
		"a date with a space": {
			func(r *createRequest) { r.Date = "2026-03-14 12:00:00" }, codes.InvalidArgument,
			"INVALID_TRANSACTION_DATE",
			[]string{"date"},
		},
		"a date of bad form": {
			func(r *createRequest) { r.Date = "2026-03-14T7:00:00Z" }, codes.InvalidArgument,
			"INVALID_TRANSACTION_DATE",
			[]string{"date"},
		},
		"a currency that is none": {
			func(r *createRequest) { r.Currency = "EURO" }, codes.InvalidArgument,
			"UNSUPPORTED_CURRENCY",
			[]string{"currency"},
		},
		"a type that is none": {
			func(r *createRequest) { r.Type = new("Expense") }, codes.InvalidArgument,
			"INVALID_TRANSACTION_TYPE",
			[]string{"type"},
		},
		"an empty type": {
			func(r *createRequest) { r.Type = new("") }, codes.InvalidArgument,
			"INVALID_TRANSACTION_TYPE",
			[]string{"type"},
		},
		"a malformed wallet": {
			func(r *createRequest) { r.WalletId = "1" }, codes.InvalidArgument, "WALLET_NOT_FOUND",
			[]string{"walletId"},
		},
		"an unknown wallet": {
			func(r *createRequest) { r.WalletId = srv.NewID().String() }, codes.NotFound,
			"WALLET_NOT_FOUND",
			[]string{"walletId"},
		},
		"another user's wallet": {
			func(r *createRequest) { r.WalletId = stranger.Wallet.String() }, codes.NotFound,
			"WALLET_NOT_FOUND",
			[]string{"walletId"},
		},
		"a malformed category": {
			func(r *createRequest) { r.CategoryId = "x" }, codes.InvalidArgument,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"categoryId"},
		},
		"an unknown category": {
			func(r *createRequest) { r.CategoryId = srv.NewID().String() }, codes.NotFound,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"categoryId"},
		},
		"another user's category": {
			func(r *createRequest) { r.CategoryId = stranger.Category.String() }, codes.NotFound,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"categoryId"},
		},
		"the same with a key": {
			func(r *createRequest) { r.CategoryId, r.IdempotencyKey = srv.NewID().String(), "k" },
			codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"categoryId"},
		},
		"several codes, first given": {
			func(r *createRequest) { r.Date, r.Currency = "x", "y" }, codes.InvalidArgument,
			"INVALID_TRANSACTION_DATE",
			[]string{"date", "currency"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := me.Spends("5")
			tc.change(req)
			e := srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := srv.CreateTransaction(me.Ctx, req)
				return err
			})
			require.Equal(t, tc.fields, fixture.FieldNames(e))
		})
	}
}

// problemCases are the combinations of problems that a create, an item of a batch and an update
// report together.
func problemCases(unknown string) map[string]struct {
	change func(*createRequest)
	code   codes.Code
	reason string
	fields []string
} {
	type request = *createRequest
	return map[string]struct {
		change func(request)
		code   codes.Code
		reason string
		fields []string
	}{
		"unknown wallet and category": {
			func(r request) { r.WalletId, r.CategoryId = unknown, unknown },
			codes.NotFound, "WALLET_NOT_FOUND",
			[]string{"walletId", "categoryId"},
		},
		"unknown wallet beside a bad amount": {
			func(r request) { r.WalletId, r.Amount = unknown, "0" },
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount", "walletId"},
		},
		"unknown category beside a malformed wallet": {
			func(r request) { r.WalletId, r.CategoryId = "x", unknown },
			codes.InvalidArgument, "WALLET_NOT_FOUND",
			[]string{"walletId", "categoryId"},
		},
		"nil UUIDs beside a bad date": {
			func(r request) {
				r.Date, r.WalletId, r.CategoryId = "x", uuid.Nil.String(), uuid.Nil.String()
			},
			codes.InvalidArgument, "INVALID_TRANSACTION_DATE",
			[]string{"date", "walletId", "categoryId"},
		},
		"everything": {
			func(r request) {
				r.Amount, r.Date, r.Currency = "x", "x", "x"
				r.WalletId, r.CategoryId, r.Type = unknown, unknown, new("x")
				r.Description = strings.Repeat("x", 1001)
			},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount", "description", "date", "currency", "type", "walletId", "categoryId"},
		},
		"bad amount beside another currency": {
			func(r request) { r.Amount, r.Currency = "0", "JPY" },
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount"},
		},
	}
}

func TestCreateTransactionNamesAllProblems(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	for name, c := range problemCases(srv.NewID().String()) {
		t.Run(name, func(t *testing.T) {
			req := me.Spends("5")
			c.change(req)
			e := srv.RequireRejected(t, c.code, c.reason, func() error {
				_, err := srv.CreateTransaction(me.Ctx, req)
				return err
			})
			require.Equal(t, c.fields, fixture.FieldNames(e))
		})
	}
}

func TestCreateTransactionInvalidDateMessage(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	req := p.Spends("5")
	req.Date = "x"
	_, err := p.CreateTransaction(p.Ctx, req)
	require.Equal(t, "Invalid transaction date", apierr.From(err).Message)
	req.Amount = "0"
	_, err = p.CreateTransaction(p.Ctx, req)
	require.Equal(t, apierr.Field{Name: "date", Message: "Invalid transaction date: must be an " +
		"ISO 8601 date or date-time of the years 1900 to 2200"}, apierr.From(err).Fields[1])
}

func TestCreateTransactionBalanceOutOfRange(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	pgtest.Exec(t, p.DB, `UPDATE wallet_balances SET amount_minor = -100000000000000000`)
	e := p.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		_, err := p.CreateTransaction(p.Ctx, p.Spends("0.01"))
		return err
	})
	require.Equal(t, []string{"amount"}, fixture.FieldNames(e))
}
