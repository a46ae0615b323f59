package transactions

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// splits returns a request for a split expense of the person.
func (p person) splits(amount string, parts ...*ledgerv1.Split) *createRequest {
	req := p.Spends(amount)
	req.CategoryId, req.Splits = "", parts
	return req
}

func TestCreateTransactionSplits(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	fun := p.MakeCategory(p.Ctx, t, "Fun").String()
	parts := []*ledgerv1.Split{
		{CategoryId: p.Category.String(), Amount: "12.00", Description: "Food"},
		{CategoryId: fun, Amount: "0.50"},
		{CategoryId: fun, Amount: "-2.50", Description: "Deposit"},
	}
	created := p.Create(t, p.splits("10", parts...))
	require.Equal(t, "-10.00", created.GetAmount())
	require.Empty(t, created.GetCategoryId())
	require.Len(t, created.GetSplits(), 3)
	for i := range parts {
		require.True(t, proto.Equal(parts[i], created.GetSplits()[i]), created)
	}
	require.True(t, proto.Equal(created, p.get(t, created.GetId())))
	require.True(t,
		proto.Equal(created, p.LastEvent(t).(*ledgerv1.TransactionCreated).GetTransaction()))
	require.Equal(t, map[string]string{"EUR": "-10.00"}, p.Balances(t, p.Wallet))
	s.RequireConsistent(t)

	_, err := p.DeleteCategory(p.Ctx, &ledgerv1.DeleteCategoryRequest{Id: fun})
	fixture.RequireReason(t, err, codes.FailedPrecondition, "CATEGORY_IN_USE")
	_, err = p.DeleteTransaction(p.Ctx, &deleteRequest{Id: created.GetId()})
	require.NoError(t, err)
	_, err = p.DeleteCategory(p.Ctx, &ledgerv1.DeleteCategoryRequest{Id: fun})
	require.NoError(t, err)
	s.RequireConsistent(t)
}

func TestCreateTransactionSplitErrors(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	part := func(amount string) *ledgerv1.Split {
		return &ledgerv1.Split{CategoryId: p.Category.String(), Amount: amount}
	}
	of := func(category, amount string) *ledgerv1.Split {
		return &ledgerv1.Split{CategoryId: category, Amount: amount}
	}
	beside := p.splits("3", part("1"), part("2"))
	beside.CategoryId = p.Category.String()
	yen := p.splits("3", part("1.5"), part("1.5"))
	yen.Currency = "JPY"
	invalid, notFound := codes.InvalidArgument, codes.NotFound
	for name, c := range map[string]struct {
		req    *createRequest
		code   codes.Code
		reason string
		fields []string
	}{
		"one part":                       {p.splits("3", part("3")), invalid, "VALIDATION_ERROR", []string{"splits"}},
		"51 parts":                       {p.splits("3", make([]*ledgerv1.Split, 51)...), invalid, "VALIDATION_ERROR", []string{"splits"}},
		"a category beside":              {beside, invalid, "VALIDATION_ERROR", []string{"categoryId"}},
		"a part of zero":                 {p.splits("3", part("3"), part("0")), invalid, "VALIDATION_ERROR", []string{"splits[1].amount"}},
		"no amount and no category":      {p.splits("3", part("3"), of("", "")), invalid, "VALIDATION_ERROR", []string{"splits[1].categoryId", "splits[1].amount"}},
		"a part that is no number":       {p.splits("3", part("3"), part("x")), invalid, "VALIDATION_ERROR", []string{"splits[1].amount"}},
		"a part too fine":                {yen, invalid, "VALIDATION_ERROR", []string{"splits[0].amount", "splits[1].amount"}},
		"a malformed category, too fine": {p.splits("3", part("1"), of("x", "2.001")), invalid, "VALIDATION_ERROR", []string{"splits[1].amount", "splits[1].categoryId"}},
		"a malformed category":           {p.splits("3", part("1"), of("x", "2")), invalid, "INVALID_CATEGORY_EXIST_PARAMS", []string{"splits[1].categoryId"}},
		"an unknown category":            {p.splits("3", part("1"), of(s.NewID().String(), "2")), notFound, "INVALID_CATEGORY_EXIST_PARAMS", []string{"splits[1].categoryId"}},
		"another user's category":        {p.splits("3", of(stranger.Category.String(), "1"), part("2")), notFound, "INVALID_CATEGORY_EXIST_PARAMS", []string{"splits[0].categoryId"}},
		"a sum too small":                {p.splits("3", part("1"), part("1.99")), invalid, "SPLIT_SUM_MISMATCH", []string{"splits"}},
		"a sum of the opposite sign":     {p.splits("3", part("-1"), part("-2")), invalid, "SPLIT_SUM_MISMATCH", []string{"splits"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := s.RequireRejected(t, c.code, c.reason, func() error {
				_, err := s.CreateTransaction(p.Ctx, c.req)
				return err
			})
			require.Equal(t, c.fields, fixture.FieldNames(e))
			e = s.RequireRejected(t, c.code, c.reason, func() error {
				_, err := s.CreateTransactions(p.Ctx, fixture.Bulk(p.Spends("1"), c.req))
				return err
			})
			require.Equal(t, "transactions[1]."+c.fields[0], e.Fields[0].Name)
		})
	}
	_, err := p.CreateTransaction(p.Ctx, p.splits("3", part("1"), part("1.8")))
	require.Equal(t, "The parts add up to 2.80, which is 0.20 less than the amount",
		apierr.From(err).Message)
}

// TestCreateTransactionSplitsReplay merges the category of a part between a request and its
// repetition with the same key.
func TestCreateTransactionSplitsReplay(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	part := func(category string) []*ledgerv1.Split {
		return []*ledgerv1.Split{
			{CategoryId: category, Amount: "4"},
			{CategoryId: p.Category.String(), Amount: "6"},
		}
	}
	one := func(req *createRequest) func() (string, bool, error) {
		return func() (string, bool, error) {
			resp, err := p.CreateTransaction(p.Ctx, req)
			return resp.GetTransaction().GetId(), resp.GetReplayed(), err
		}
	}
	for name, request := range map[string]func(category string) func() (string, bool, error){
		"one": func(category string) func() (string, bool, error) {
			req := p.splits("10", part(category)...)
			req.IdempotencyKey = "one"
			return one(req)
		},
		"tagged": func(category string) func() (string, bool, error) {
			req := p.splits("10", part(category)...)
			req.IdempotencyKey, req.Tags = "tagged", []string{"Trip"}
			return one(req)
		},
		"bulk": func(category string) func() (string, bool, error) {
			req := fixture.Bulk(p.splits("10", part(category)...))
			req.IdempotencyKey = "bulk"
			return func() (string, bool, error) {
				resp, err := p.CreateTransactions(p.Ctx, req)
				if err != nil {
					return "", false, err
				}
				return resp.GetTransactions()[0].GetId(), resp.GetReplayed(), nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			category := p.MakeCategory(p.Ctx, t, name).String()
			send := request(category)
			first, replayed, err := send()
			require.NoError(t, err)
			require.False(t, replayed)
			_, err = p.DeleteCategory(p.Ctx,
				&ledgerv1.DeleteCategoryRequest{Id: category, ReassignTo: new(p.Category.String())})
			require.NoError(t, err)
			again, replayed, err := send()
			require.NoError(t, err)
			require.True(t, replayed)
			require.Equal(t, first, again)
		})
	}
}

func TestUpdateTransactionSplits(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	food, fun := p.Category.String(), p.MakeCategory(p.Ctx, t, "Fun").String()
	two := func(a, b string) *ledgerv1.Splits {
		return &ledgerv1.Splits{Values: []*ledgerv1.Split{
			{CategoryId: food, Amount: a},
			{CategoryId: fun, Amount: b},
		}}
	}
	none := &ledgerv1.Splits{}
	bank := p.MakeWallet(p.Ctx, t, "Bank", "EUR").String()
	type update = updateRequest
	for name, c := range map[string]struct {
		split  bool
		req    *update
		reason string
		fields []string
		// want are the amounts of the parts after the change.
		want []string
	}{
		"begins":                                 {false, &update{Splits: two("3", "7")}, "", nil, []string{"3.00", "7.00"}},
		"begins with a sum that differs":         {false, &update{Splits: two("3", "6")}, "SPLIT_SUM_MISMATCH", []string{"splits"}, nil},
		"replaces the parts":                     {true, &update{Splits: two("12", "-2")}, "", nil, []string{"12.00", "-2.00"}},
		"changes the amount with the parts":      {true, &update{Amount: new("4"), Splits: two("1", "3")}, "", nil, []string{"1.00", "3.00"}},
		"changes the amount alone":               {true, &update{Amount: new("4")}, "SPLIT_SUM_MISMATCH", []string{"splits"}, nil},
		"keeps the amount":                       {true, &update{Amount: new("10.0")}, "", nil, []string{"4.00", "6.00"}},
		"changes the type":                       {true, &update{Type: new("income")}, "", nil, []string{"4.00", "6.00"}},
		"changes the date and the wallet":        {true, &update{Date: new("2026-05-02"), WalletId: &bank}, "", nil, []string{"4.00", "6.00"}},
		"ends with a category":                   {true, &update{CategoryId: &fun}, "", nil, nil},
		"ends with an empty list and a category": {true, &update{CategoryId: &fun, Splits: none}, "", nil, nil},
		"ends without a category":                {true, &update{Splits: none}, "VALIDATION_ERROR", []string{"categoryId"}, nil},
		"ends one that is not split":             {false, &update{Splits: none}, "", nil, nil},
		"has a category beside":                  {true, &update{CategoryId: &fun, Splits: two("4", "6")}, "VALIDATION_ERROR", []string{"categoryId"}, nil},
		"changes the currency alone":             {true, &update{Amount: new("10"), Currency: new("JPY")}, "VALIDATION_ERROR", []string{"splits"}, nil},
		"changes the currency with the parts":    {true, &update{Amount: new("10"), Currency: new("JPY"), Splits: two("3", "7")}, "", nil, []string{"3", "7"}},
	} {
		t.Run(name, func(t *testing.T) {
			create := p.Spends("10")
			if c.split {
				create = p.splits("10", two("4", "6").GetValues()...)
			}
			before := p.Create(t, create)
			req := proto.CloneOf(c.req)
			req.Id = before.GetId()
			resp, err := p.UpdateTransaction(p.Ctx, req)
			if c.reason != "" {
				e := fixture.RequireReason(t, err, codes.InvalidArgument, c.reason)
				require.Equal(t, c.fields, fixture.FieldNames(e))
				require.True(t, proto.Equal(before, p.get(t, before.GetId())))
				return
			}
			require.NoError(t, err)
			var amounts []string
			for _, part := range resp.GetTransaction().GetSplits() {
				amounts = append(amounts, part.GetAmount())
			}
			require.Equal(t, c.want, amounts)
			require.Equal(t, c.want == nil, resp.GetTransaction().GetCategoryId() != "")
			require.True(t, proto.Equal(resp.GetTransaction(), p.get(t, before.GetId())))
			s.RequireConsistent(t)
		})
	}
}

// TestSplitSums splits random amounts of currencies with 0, 2, 3 and 4 decimals. The parts are
// accepted if and only if they add up to the amount exactly.
func TestSplitSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		code := rapid.SampledFrom([]string{"JPY", "EUR", "BHD", "CLF"}).Draw(r, "currency")
		c := money.CurrencyOf(code)
		n := rapid.IntRange(minParts, maxParts).Draw(r, "parts")
		sum, off := int64(0), rapid.SampledFrom([]int64{0, 0, 1, -1, 100}).Draw(r, "off")
		var cs changes
		parts := make([]*ledgerv1.Split, n)
		for i := range parts {
			minor := rapid.OneOf(rapid.Int64Range(1, 100), rapid.Int64Range(1, 19_999_999_999),
				rapid.Int64Range(-50, -1)).Draw(r, "part")
			sum += minor
			parts[i] = &ledgerv1.Split{
				CategoryId: "0193f3a0-0000-7000-8000-000000000001",
				Amount:     c.Format(minor),
			}
		}
		if sum+off <= 0 {
			return
		}
		var p apierr.Problems
		cs.setSplits(&p, parts)
		cs.setAmount(&p, c.Format(sum+off))
		cs.setCurrency(&p, c.Code())
		cs.setKind(&p, rapid.SampledFrom([]string{posting.Expense, posting.Income}).Draw(r, "type"))
		require.NoError(r, p.Err())
		tr := cs.apply(&p, posting.Transaction{})
		if off != 0 {
			require.Equal(r, "SPLIT_SUM_MISMATCH", apierr.From(p.Err()).Reason)
			return
		}
		require.NoError(r, p.Err())
		total := int64(0)
		for _, s := range tr.Splits {
			total += s.AmountMinor
		}
		require.Equal(r, tr.AmountMinor, total)
	})
}
