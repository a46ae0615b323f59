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

func TestUpdateTransactionSplits(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	food, fun := me.Category.String(), me.MakeCategory(me.Ctx, t, "Fun").String()
	two := func(a, b string) *ledgerv1.Splits {
		return &ledgerv1.Splits{Values: []*ledgerv1.Split{
			{CategoryId: food, Amount: a},
			{CategoryId: fun, Amount: b},
		}}
	}
	none := &ledgerv1.Splits{}
	bank := me.MakeWallet(me.Ctx, t, "Bank", "EUR").String()
	type update = updateRequest
	for name, tc := range map[string]struct {
		split  bool
		req    *update
		reason string
		fields []string
		// want are the amounts of the parts after the change.
		want []string
	}{
		"begins": {false, &update{Splits: two("3", "7")}, "", nil, []string{"3.00", "7.00"}},
		"begins with a sum that differs": {
			false, &update{Splits: two("3", "6")}, "SPLIT_SUM_MISMATCH", []string{"splits"}, nil,
		},
		"replaces the parts": {
			true, &update{Splits: two("12", "-2")}, "", nil, []string{"12.00", "-2.00"},
		},
		"changes the amount with the parts": {
			true, &update{Amount: new("4"), Splits: two("1", "3")}, "", nil,
			[]string{"1.00", "3.00"},
		},
		"changes the amount alone": {
			true, &update{Amount: new("4")}, "SPLIT_SUM_MISMATCH", []string{"splits"}, nil,
		},
		"keeps the amount": {true, &update{Amount: new("10.0")}, "", nil, []string{"4.00", "6.00"}},
		"changes the type": {true, &update{Type: new("income")}, "", nil, []string{"4.00", "6.00"}},
		"changes the date and the wallet": {
			true, &update{Date: new("2026-05-02"), WalletId: &bank}, "", nil,
			[]string{"4.00", "6.00"},
		},
		"ends with a category": {true, &update{CategoryId: &fun}, "", nil, nil},
		"ends with an empty list and a category": {
			true, &update{CategoryId: &fun, Splits: none}, "", nil, nil,
		},
		"ends without a category": {
			true, &update{Splits: none}, "VALIDATION_ERROR", []string{"categoryId"}, nil,
		},
		"ends one that is not split": {false, &update{Splits: none}, "", nil, nil},
		"has a category beside": {
			true, &update{CategoryId: &fun, Splits: two("4", "6")}, "VALIDATION_ERROR",
			[]string{"categoryId"},
			nil,
		},
		"changes the currency alone": {
			true, &update{Amount: new("10"), Currency: new("JPY")}, "VALIDATION_ERROR",
			[]string{"splits"},
			nil,
		},
		"changes the currency with the parts": {
			true, &update{Amount: new("10"), Currency: new("JPY"), Splits: two("3", "7")}, "", nil,
			[]string{"3", "7"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			create := me.Spends("10")
			if tc.split {
				create = me.splits("10", two("4", "6").GetValues()...)
			}
			before := me.Create(t, create)
			req := proto.CloneOf(tc.req)
			req.Id = before.GetId()
			resp, err := me.UpdateTransaction(me.Ctx, req)
			if tc.reason != "" {
				e := fixture.RequireReason(t, err, codes.InvalidArgument, tc.reason)
				require.Equal(t, tc.fields, fixture.FieldNames(e))
				require.True(t, proto.Equal(before, me.get(t, before.GetId())))
				return
			}
			require.NoError(t, err)
			var amounts []string
			for _, part := range resp.GetTransaction().GetSplits() {
				amounts = append(amounts, part.GetAmount())
			}
			require.Equal(t, tc.want, amounts)
			require.Equal(t, tc.want == nil, resp.GetTransaction().GetCategoryId() != "")
			require.True(t, proto.Equal(resp.GetTransaction(), me.get(t, before.GetId())))
			srv.RequireConsistent(t)
		})
	}
}

// TestSplitSums splits random amounts of currencies with 0, 2, 3 and 4 decimals. The parts are
// accepted if and only if they add up to the amount exactly.
func TestSplitSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		code := rapid.SampledFrom([]string{"JPY", "EUR", "BHD", "CLF"}).Draw(r, "currency")
		currency := money.CurrencyOf(code)
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
				Amount:     currency.Format(minor),
			}
		}
		if sum+off <= 0 {
			return
		}
		var problems apierr.Problems
		cs.setSplits(&problems, parts)
		cs.setAmount(&problems, currency.Format(sum+off))
		cs.setCurrency(&problems, currency.Code())
		cs.setKind(&problems,
			rapid.SampledFrom([]string{posting.Expense, posting.Income}).Draw(r, "type"))
		require.NoError(r, problems.Err())
		tr := cs.apply(&problems, posting.Transaction{})
		if off != 0 {
			require.Equal(r, "SPLIT_SUM_MISMATCH", apierr.From(problems.Err()).Reason)
			return
		}
		require.NoError(r, problems.Err())
		total := int64(0)
		for _, s := range tr.Splits {
			total += s.AmountMinor
		}
		require.Equal(r, tr.AmountMinor, total)
	})
}
