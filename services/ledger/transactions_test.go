package ledger

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestCreateTransaction(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	req := p.spends("12.3")
	req.Description, req.Currency, req.Date = " Lunch ", "eur", "2026-03-14T23:30:00.1239+02:00"
	resp, err := p.CreateTransaction(p.ctx, req)
	require.NoError(t, err)
	want := &ledgerv1.Transaction{
		Id: resp.GetTransaction().GetId(), Amount: "-12.30", Description: "Lunch", Date: "2026-03-14T21:30:00.123Z", Currency: "EUR",
		WalletId: p.wallet.String(), CategoryId: p.category.String(), Type: "expense",
		CreatedAt: "2026-03-15T12:00:00.000Z", UpdatedAt: "2026-03-15T12:00:00.000Z",
	}
	require.True(t, proto.Equal(want, resp.GetTransaction()), resp)
	require.Equal(t, `"1"`, resp.GetEtag())
	got, err := p.GetTransaction(p.ctx, &ledgerv1.GetTransactionRequest{Id: strings.ToUpper(want.GetId())})
	require.NoError(t, err)
	require.True(t, proto.Equal(want, got.GetTransaction()), got)
	require.True(t, proto.Equal(&ledgerv1.TransactionCreated{OwnerId: p.id.String(), Transaction: want}, p.lastEvent(t)))
	p.requireConsistent(t)
}

func TestCreateTransactionSignFollowsType(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	for kind, want := range map[*string]string{nil: "5.00", new("income"): "5.00", new("expense"): "-5.00"} {
		req := p.spends("5")
		req.Type = kind
		require.Equal(t, want, p.create(t, req).GetAmount())
	}
	require.Equal(t, map[string]string{"EUR": "5.00"}, p.balances(t, p.wallet))
}

func TestCreateTransactionOtherCurrency(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	for amount, currency := range map[string]string{"1.25": "EUR", "700": "JPY", "0.125": "BHD"} {
		req := p.spends(amount)
		req.Currency = currency
		p.create(t, req)
	}
	require.Equal(t, map[string]string{"EUR": "-1.25", "JPY": "-700", "BHD": "-0.125"}, p.balances(t, p.wallet))
	p.requireConsistent(t)
}

func TestCreateTransactionErrors(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	for name, c := range map[string]struct {
		change func(*ledgerv1.CreateTransactionRequest)
		code   codes.Code
		reason string
		fields []string
	}{
		"nothing at all": {
			func(r *ledgerv1.CreateTransactionRequest) { proto.Reset(r) },
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"amount", "date", "currency", "walletId", "categoryId"},
		},
		"no amount":                  {func(r *ledgerv1.CreateTransactionRequest) { r.Amount = "" }, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"an amount of zero":          {func(r *ledgerv1.CreateTransactionRequest) { r.Amount = "0.00" }, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"a negative amount":          {func(r *ledgerv1.CreateTransactionRequest) { r.Amount = "-1" }, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"an amount that is none":     {func(r *ledgerv1.CreateTransactionRequest) { r.Amount = "NaN" }, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"an amount too fine":         {func(r *ledgerv1.CreateTransactionRequest) { r.Amount = "0.001" }, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"an amount too large":        {func(r *ledgerv1.CreateTransactionRequest) { r.Amount = "1e12" }, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"a description too long":     {func(r *ledgerv1.CreateTransactionRequest) { r.Description = strings.Repeat("x", 1001) }, codes.InvalidArgument, "VALIDATION_ERROR", []string{"description"}},
		"a date that is none":        {func(r *ledgerv1.CreateTransactionRequest) { r.Date = "2026-02-29" }, codes.InvalidArgument, "INVALID_TRANSACTION_DATE", []string{"date"}},
		"a date too early":           {func(r *ledgerv1.CreateTransactionRequest) { r.Date = "1899-12-31" }, codes.InvalidArgument, "INVALID_TRANSACTION_DATE", []string{"date"}},
		"a date too late":            {func(r *ledgerv1.CreateTransactionRequest) { r.Date = "2200-12-31T23:59:59-01:00" }, codes.InvalidArgument, "INVALID_TRANSACTION_DATE", []string{"date"}},
		"a date with a space":        {func(r *ledgerv1.CreateTransactionRequest) { r.Date = "2026-03-14 12:00:00" }, codes.InvalidArgument, "INVALID_TRANSACTION_DATE", []string{"date"}},
		"a date of bad form":         {func(r *ledgerv1.CreateTransactionRequest) { r.Date = "2026-03-14T7:00:00Z" }, codes.InvalidArgument, "INVALID_TRANSACTION_DATE", []string{"date"}},
		"a currency that is none":    {func(r *ledgerv1.CreateTransactionRequest) { r.Currency = "EURO" }, codes.InvalidArgument, "UNSUPPORTED_CURRENCY", []string{"currency"}},
		"a type that is none":        {func(r *ledgerv1.CreateTransactionRequest) { r.Type = new("Expense") }, codes.InvalidArgument, "INVALID_TRANSACTION_TYPE", []string{"type"}},
		"an empty type":              {func(r *ledgerv1.CreateTransactionRequest) { r.Type = new("") }, codes.InvalidArgument, "INVALID_TRANSACTION_TYPE", []string{"type"}},
		"a malformed wallet":         {func(r *ledgerv1.CreateTransactionRequest) { r.WalletId = "1" }, codes.InvalidArgument, "WALLET_NOT_FOUND", []string{"walletId"}},
		"an unknown wallet":          {func(r *ledgerv1.CreateTransactionRequest) { r.WalletId = s.newID().String() }, codes.NotFound, "WALLET_NOT_FOUND", []string{"walletId"}},
		"another user's wallet":      {func(r *ledgerv1.CreateTransactionRequest) { r.WalletId = stranger.wallet.String() }, codes.NotFound, "WALLET_NOT_FOUND", []string{"walletId"}},
		"a malformed category":       {func(r *ledgerv1.CreateTransactionRequest) { r.CategoryId = "x" }, codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS", []string{"categoryId"}},
		"an unknown category":        {func(r *ledgerv1.CreateTransactionRequest) { r.CategoryId = s.newID().String() }, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", []string{"categoryId"}},
		"another user's category":    {func(r *ledgerv1.CreateTransactionRequest) { r.CategoryId = stranger.category.String() }, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", []string{"categoryId"}},
		"the same with a key":        {func(r *ledgerv1.CreateTransactionRequest) { r.CategoryId, r.IdempotencyKey = s.newID().String(), "k" }, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", []string{"categoryId"}},
		"several codes, first given": {func(r *ledgerv1.CreateTransactionRequest) { r.Date, r.Currency = "x", "y" }, codes.InvalidArgument, "INVALID_TRANSACTION_DATE", []string{"date", "currency"}},
	} {
		t.Run(name, func(t *testing.T) {
			req := p.spends("5")
			c.change(req)
			e := s.refuses(t, c.code, c.reason, func() error {
				_, err := s.CreateTransaction(p.ctx, req)
				return err
			})
			require.Equal(t, c.fields, fieldNames(e))
		})
	}
}

// problemCases are the combinations of problems that a create, an item of a batch and an update report together.
func problemCases(unknown string) map[string]struct {
	change func(*ledgerv1.CreateTransactionRequest)
	code   codes.Code
	reason string
	fields []string
} {
	type request = *ledgerv1.CreateTransactionRequest
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
			func(r request) { r.Date, r.WalletId, r.CategoryId = "x", uuid.Nil.String(), uuid.Nil.String() },
			codes.InvalidArgument, "INVALID_TRANSACTION_DATE",
			[]string{"date", "walletId", "categoryId"},
		},
		"everything": {
			func(r request) {
				r.Amount, r.Date, r.Currency, r.WalletId, r.CategoryId, r.Type = "x", "x", "x", unknown, unknown, new("x")
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
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	for name, c := range problemCases(s.newID().String()) {
		t.Run(name, func(t *testing.T) {
			req := p.spends("5")
			c.change(req)
			e := s.refuses(t, c.code, c.reason, func() error {
				_, err := s.CreateTransaction(p.ctx, req)
				return err
			})
			require.Equal(t, c.fields, fieldNames(e))
		})
	}
}

func TestUpdateTransactionNamesAllProblems(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	id := p.create(t, p.spends("5.25")).GetId()
	for name, c := range problemCases(s.newID().String()) {
		t.Run(name, func(t *testing.T) {
			before, after := p.spends("5.25"), p.spends("5.25")
			c.change(after)
			changed := func(before, after string) *string {
				if before == after {
					return nil
				}
				return &after
			}
			req := &ledgerv1.UpdateTransactionRequest{
				Id: id, Amount: changed(before.GetAmount(), after.GetAmount()), Description: changed(before.GetDescription(), after.GetDescription()),
				Date: changed(before.GetDate(), after.GetDate()), Currency: changed(before.GetCurrency(), after.GetCurrency()),
				WalletId: changed(before.GetWalletId(), after.GetWalletId()), CategoryId: changed(before.GetCategoryId(), after.GetCategoryId()),
				Type: changed(before.GetType(), after.GetType()),
			}
			e := s.refuses(t, c.code, c.reason, func() error {
				_, err := s.UpdateTransaction(p.ctx, req)
				return err
			})
			require.Equal(t, c.fields, fieldNames(e))
		})
	}
}

func TestCreateTransactionInvalidDateMessage(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	req := p.spends("5")
	req.Date = "x"
	_, err := p.CreateTransaction(p.ctx, req)
	require.Equal(t, "Invalid transaction date", apierr.From(err).Message)
	req.Amount = "0"
	_, err = p.CreateTransaction(p.ctx, req)
	require.Equal(t, apierr.Field{Name: "date", Message: "Invalid transaction date: must be an ISO 8601 date or date-time of the years 1900 to 2200"}, apierr.From(err).Fields[1])
}

func TestCreateTransactionBalanceOutOfRange(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	_, err := p.db.Exec(t.Context(), `UPDATE wallet_balances SET amount_minor = -100000000000000000`)
	require.NoError(t, err)
	e := p.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		_, err := p.CreateTransaction(p.ctx, p.spends("0.01"))
		return err
	})
	require.Equal(t, []string{"amount"}, fieldNames(e))
}

func TestCreateTransactionReplaysKey(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	req := p.spends("5")
	req.IdempotencyKey = "k"
	answers := make([]*ledgerv1.CreateTransactionResponse, 8)
	var asking sync.WaitGroup
	for i := range answers {
		asking.Go(func() {
			var err error
			answers[i], err = p.CreateTransaction(p.ctx, req)
			if err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	first := 0
	for _, a := range answers {
		require.True(t, proto.Equal(answers[0].GetTransaction(), a.GetTransaction()))
		if !a.GetReplayed() {
			first++
		}
	}
	require.Equal(t, 1, first)
	require.Equal(t, map[string]string{"EUR": "-5.00"}, p.balances(t, p.wallet))
	p.requireConsistent(t)
}

func TestTransactionIDErrors(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	theirs := stranger.create(t, stranger.spends("5")).GetId()
	for id, want := range map[string]*apierr.Error{
		"":                       errInvalidTransactionID,
		"1":                      errInvalidTransactionID,
		strings.Repeat("0", 36):  errInvalidTransactionID,
		"{" + theirs[1:35] + "}": errInvalidTransactionID,
		uuid.Nil.String():        errTransactionNotFound,
		s.newID().String():       errTransactionNotFound,
		theirs:                   errTransactionOwnerMismatch,
	} {
		for name, do := range map[string]func() error{
			"get": func() error {
				_, err := s.GetTransaction(p.ctx, &ledgerv1.GetTransactionRequest{Id: id})
				return err
			},
			"update": func() error {
				_, err := s.UpdateTransaction(p.ctx, &ledgerv1.UpdateTransactionRequest{Id: id, Amount: new("1")})
				return err
			},
			"delete": func() error {
				_, err := s.DeleteTransaction(p.ctx, &ledgerv1.DeleteTransactionRequest{Id: id})
				return err
			},
		} {
			t.Run(name+" "+id, func(t *testing.T) { s.refuses(t, want.Code, want.Reason, do) })
		}
	}
}

func TestUpdateTransactionFields(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		req  *ledgerv1.UpdateTransactionRequest
		want map[string]string
		did  func(*ledgerv1.Transaction)
	}{
		"an amount alone keeps the sign": {
			&ledgerv1.UpdateTransactionRequest{Amount: new("7")},
			map[string]string{"EUR": "-7.00"},
			func(t *ledgerv1.Transaction) { t.Amount = "-7.00" },
		},
		"a type alone turns the sign": {
			&ledgerv1.UpdateTransactionRequest{Type: new("income")},
			map[string]string{"EUR": "5.00"},
			func(t *ledgerv1.Transaction) { t.Amount, t.Type = "5.00", "income" },
		},
		"the type that it has changes nothing": {
			&ledgerv1.UpdateTransactionRequest{Type: new("expense")},
			map[string]string{"EUR": "-5.00"},
			func(*ledgerv1.Transaction) {},
		},
		"an amount follows the type that is given": {
			&ledgerv1.UpdateTransactionRequest{Amount: new("7"), Type: new("income")},
			map[string]string{"EUR": "7.00"},
			func(t *ledgerv1.Transaction) { t.Amount, t.Type = "7.00", "income" },
		},
		"the currency that it has changes nothing": {
			&ledgerv1.UpdateTransactionRequest{Currency: new("eur")},
			map[string]string{"EUR": "-5.00"},
			func(*ledgerv1.Transaction) {},
		},
		"a currency with an amount of its own": {
			&ledgerv1.UpdateTransactionRequest{Currency: new("BHD"), Amount: new("0.125")},
			map[string]string{"EUR": "0.00", "BHD": "-0.125"},
			func(t *ledgerv1.Transaction) { t.Amount, t.Currency = "-0.125", "BHD" },
		},
		"a description is emptied": {
			&ledgerv1.UpdateTransactionRequest{Description: new("  ")},
			map[string]string{"EUR": "-5.00"},
			func(t *ledgerv1.Transaction) { t.Description = "" },
		},
		"a date in another month": {
			&ledgerv1.UpdateTransactionRequest{Date: new("2025-12-31")},
			map[string]string{"EUR": "-5.00"},
			func(t *ledgerv1.Transaction) { t.Date = "2025-12-31T00:00:00.000Z" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t.Context(), t, setup(t))
			req := p.spends("5")
			req.Description = "Lunch"
			before := p.create(t, req)
			c.req.Id = before.GetId()
			resp, err := p.UpdateTransaction(p.ctx, c.req)
			require.NoError(t, err)
			after := proto.CloneOf(before)
			c.did(after)
			require.True(t, proto.Equal(after, resp.GetTransaction()), resp)
			require.Equal(t, `"2"`, resp.GetEtag())
			got, err := p.GetTransaction(p.ctx, &ledgerv1.GetTransactionRequest{Id: before.GetId()})
			require.NoError(t, err)
			require.True(t, proto.Equal(after, got.GetTransaction()), got)
			require.Equal(t, c.want, p.balances(t, p.wallet))
			require.True(t, proto.Equal(&ledgerv1.TransactionUpdated{OwnerId: p.id.String(), Before: before, After: after}, p.lastEvent(t)))
			p.requireConsistent(t)
		})
	}
}

func TestUpdateTransactionWalletAndCategory(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	bank, fun := p.makeWallet(p.ctx, t, "Bank", "USD"), p.makeCategory(p.ctx, t, "Fun")
	before := p.create(t, p.spends("5"))
	resp, err := p.UpdateTransaction(p.ctx, &ledgerv1.UpdateTransactionRequest{
		Id: before.GetId(), WalletId: new(bank.String()), CategoryId: new(fun.String()), IfMatch: `"1"`,
	})
	require.NoError(t, err)
	require.Equal(t, bank.String(), resp.GetTransaction().GetWalletId())
	require.Equal(t, fun.String(), resp.GetTransaction().GetCategoryId())
	require.Equal(t, map[string]string{"EUR": "0.00"}, p.balances(t, p.wallet))
	require.Equal(t, map[string]string{"USD": "0.00", "EUR": "-5.00"}, p.balances(t, bank))
	p.requireConsistent(t)
}

func TestUpdateTransactionErrors(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	tr := p.create(t, p.spends("5.25"))
	for name, c := range map[string]struct {
		req    *ledgerv1.UpdateTransactionRequest
		code   codes.Code
		reason string
		fields []string
	}{
		"nothing":                    {&ledgerv1.UpdateTransactionRequest{}, codes.InvalidArgument, "EMPTY_UPDATE", nil},
		"an amount of zero":          {&ledgerv1.UpdateTransactionRequest{Amount: new("0")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"an empty amount":            {&ledgerv1.UpdateTransactionRequest{Amount: new("")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"an amount too fine":         {&ledgerv1.UpdateTransactionRequest{Amount: new("1.125")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"another currency alone":     {&ledgerv1.UpdateTransactionRequest{Currency: new("USD")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"a currency too coarse":      {&ledgerv1.UpdateTransactionRequest{Currency: new("JPY"), Amount: new("0.5")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount"}},
		"an empty currency":          {&ledgerv1.UpdateTransactionRequest{Currency: new("")}, codes.InvalidArgument, "UNSUPPORTED_CURRENCY", []string{"currency"}},
		"an empty date":              {&ledgerv1.UpdateTransactionRequest{Date: new("")}, codes.InvalidArgument, "INVALID_TRANSACTION_DATE", []string{"date"}},
		"a type that is none":        {&ledgerv1.UpdateTransactionRequest{Type: new("gift")}, codes.InvalidArgument, "INVALID_TRANSACTION_TYPE", []string{"type"}},
		"a malformed wallet":         {&ledgerv1.UpdateTransactionRequest{WalletId: new("")}, codes.InvalidArgument, "WALLET_NOT_FOUND", []string{"walletId"}},
		"another user's wallet":      {&ledgerv1.UpdateTransactionRequest{WalletId: new(stranger.wallet.String())}, codes.NotFound, "WALLET_NOT_FOUND", []string{"walletId"}},
		"a malformed category":       {&ledgerv1.UpdateTransactionRequest{CategoryId: new("x")}, codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS", []string{"categoryId"}},
		"another user's category":    {&ledgerv1.UpdateTransactionRequest{CategoryId: new(stranger.category.String())}, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", []string{"categoryId"}},
		"a description too long":     {&ledgerv1.UpdateTransactionRequest{Description: new(strings.Repeat("x", 1001))}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"description"}},
		"a version that is not met":  {&ledgerv1.UpdateTransactionRequest{Amount: new("1"), IfMatch: `"2"`}, codes.FailedPrecondition, "VERSION_MISMATCH", nil},
		"more than one thing at all": {&ledgerv1.UpdateTransactionRequest{Amount: new("x"), Date: new("y")}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"amount", "date"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.req.Id = tr.GetId()
			e := s.refuses(t, c.code, c.reason, func() error {
				_, err := s.UpdateTransaction(p.ctx, c.req)
				return err
			})
			require.Equal(t, c.fields, fieldNames(e))
		})
	}
}

func TestDeleteTransactionCorrectsBalance(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	p.create(t, p.spends("1"))
	tr := p.create(t, p.spends("5"))
	del := func(ifMatch string) func() error {
		return func() error {
			_, err := p.DeleteTransaction(p.ctx, &ledgerv1.DeleteTransactionRequest{Id: tr.GetId(), IfMatch: ifMatch})
			return err
		}
	}
	p.refuses(t, codes.FailedPrecondition, "VERSION_MISMATCH", del(`"2"`))
	require.NoError(t, del(`"1"`)())
	require.True(t, proto.Equal(&ledgerv1.TransactionDeleted{OwnerId: p.id.String(), Transaction: tr}, p.lastEvent(t)))
	require.Equal(t, map[string]string{"EUR": "-1.00"}, p.balances(t, p.wallet))
	p.requireConsistent(t)
	p.refuses(t, codes.NotFound, "TRANSACTION_NOT_FOUND", del(""))
}

func TestUpdateTransactionConcurrentVersions(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	tr := p.create(t, p.spends("5"))
	errs := make([]error, 8)
	var asking sync.WaitGroup
	for i := range errs {
		asking.Go(func() {
			_, errs[i] = p.UpdateTransaction(p.ctx, &ledgerv1.UpdateTransactionRequest{Id: tr.GetId(), Amount: new("6"), IfMatch: `"1"`})
		})
	}
	asking.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		requireReason(t, err, codes.FailedPrecondition, "VERSION_MISMATCH")
	}
	require.Equal(t, 1, won)
	p.requireConsistent(t)
}

// TestConcurrentWritesKeepSums lets many change the same wallets and categories at once, also delete and
// reassign them.
func TestConcurrentWritesKeepSums(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	bank := p.makeWallet(p.ctx, t, "Bank", "EUR")
	var working sync.WaitGroup
	for i := range 8 {
		working.Go(func() {
			for range 10 {
				if err := p.liveADay(p.ctx, i, bank); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
	p.requireConsistent(t)
}

// liveADay books an expense, moves it between wallets, and sorts it under a category that is then dissolved.
func (p person) liveADay(ctx context.Context, i int, bank uuid.UUID) error {
	created, err := p.CreateTransaction(ctx, p.spends("1"))
	if err != nil {
		return err
	}
	brief, err := p.CreateCategory(ctx, &ledgerv1.CreateCategoryRequest{Name: p.newID().String()})
	if err != nil {
		return err
	}
	change := &ledgerv1.UpdateTransactionRequest{
		Id: created.GetTransaction().GetId(), WalletId: new(bank.String()), CategoryId: new(brief.GetCategory().GetId()),
	}
	if _, err := p.UpdateTransaction(ctx, change); err != nil {
		return err
	}
	dissolve := &ledgerv1.DeleteCategoryRequest{Id: brief.GetCategory().GetId(), ReassignTo: new(p.category.String())}
	if _, err := p.DeleteCategory(ctx, dissolve); err != nil {
		return err
	}
	if i%2 == 0 {
		_, err = p.DeleteTransaction(ctx, &ledgerv1.DeleteTransactionRequest{Id: created.GetTransaction().GetId()})
	}
	return err
}
