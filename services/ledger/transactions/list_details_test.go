package transactions

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

func TestListTransactionsByDetails(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	food, fun := me.Category.String(), me.MakeCategory(me.Ctx, t, "Fun").String()
	create := func(change func(*createRequest)) string {
		req := me.Spends("10")
		change(req)
		return me.Create(t, req).GetId()
	}
	plain := create(func(*createRequest) {})
	bakery := create(func(r *createRequest) { r.Payee, r.Tags = "Bäckerei 100%", []string{"Trip"} })
	short := create(func(r *createRequest) { r.Payee, r.Tags = "Ö", []string{"Work", "trip"} })
	split := create(func(r *createRequest) {
		r.CategoryId, r.Payee = "", "Bäckerei 1000"
		r.Splits = []*ledgerv1.Split{
			{CategoryId: food, Amount: "12"},
			{CategoryId: fun, Amount: "-1.5"},
			{CategoryId: fun, Amount: "-0.5"},
		}
	})
	other := create(func(r *createRequest) { r.CategoryId = fun })
	imported, received := srv.NewID().String(), srv.NewID().String()
	pgtest.Exec(t, srv.DB, `
		INSERT INTO receipts (id, owner_id, file_sha256, content, created_at)
		VALUES ($1, $2, '', '', now())`, received, me.ID)
	pgtest.Exec(t, srv.DB, `
		UPDATE transactions
		SET external_id = CASE WHEN id = $2 THEN 'bank 1' END,
			import_id = CASE WHEN id IN ($2, $3) THEN $4::uuid END,
			receipt_id = CASE WHEN id IN ($3, $5) THEN $6::uuid END,
			attachment_count = CASE WHEN id = $5 THEN 2 ELSE 0 END
		WHERE owner_id = $1`, me.ID, plain, bakery, imported, short, received)
	stranger := newPerson(t.Context(), t, srv)
	theirs := stranger.Create(t, stranger.Spends("1")).GetId()
	pgtest.Exec(t, srv.DB, `
		UPDATE transactions
		SET external_id = 'bank 1', import_id = $2, attachment_count = 1
		WHERE id = $1`, theirs, imported)
	type list = listRequest
	for name, tc := range map[string]struct {
		req  *list
		want []string
		// income and expense are the totals. A refund lowers the expense.
		income, expense string
	}{
		"a payee":       {&list{Payee: new("BÄCKEREI 100%")}, []string{bakery}, "0.00", "10.00"},
		"a short payee": {&list{Payee: new("ö")}, []string{short}, "0.00", "10.00"},
		"a tag":         {&list{Tag: []string{"TRIP"}}, []string{bakery, short}, "0.00", "20.00"},
		"several tags": {
			&list{Tag: []string{"work", "unknown"}}, []string{short}, "0.00", "10.00",
		},
		"200 tags": {
			&list{Tag: append(manyTags(199), "WORK")}, []string{short}, "0.00", "10.00",
		},
		"no tags": {
			&list{Untagged: new(true)}, []string{plain, split, other}, "0.00", "30.00",
		},
		"a part's category": {
			&list{CategoryId: []string{fun}}, []string{split, other}, "0.00", "8.00",
		},
		"the other part's": {
			&list{CategoryId: []string{food}},
			[]string{plain, bakery, short, split},
			"0.00",
			"42.00",
		},
		"both": {
			&list{CategoryId: []string{food, fun}},
			[]string{plain, bakery, short, split, other},
			"0.00", "50.00",
		},
		"a category and a payee": {
			&list{CategoryId: []string{fun}, Payee: new("bäckerei 1000")},
			[]string{split},
			"0.00",
			"-2.00",
		},
		"a category and a search": {
			&list{CategoryId: []string{fun}, Q: new("10")}, []string{split}, "0.00", "-2.00",
		},
		"no payee": {&list{WithoutPayee: new(true)}, []string{plain, other}, "0.00", "20.00"},
		"other payees": {
			&list{ExceptPayee: []string{"BÄCKEREI 100%", "ö"}},
			[]string{plain, split, other},
			"0.00",
			"30.00",
		},
		"other payees, but with one": {
			&list{ExceptPayee: []string{"", "ö"}}, []string{bakery, split}, "0.00", "20.00",
		},
		"other categories": {
			&list{ExceptCategoryId: []string{food}}, []string{split, other}, "0.00", "8.00",
		},
		"other categories of a wallet": {
			&list{ExceptCategoryId: []string{fun}, WalletId: []string{me.Wallet.String()}},
			[]string{plain, bakery, short, split},
			"0.00", "42.00",
		},
		"another wallet": {
			&list{ExceptWalletId: []string{srv.NewID().String()}, Tag: []string{"trip"}},
			[]string{bakery, short},
			"0.00", "20.00",
		},
		"counted": {
			&list{Counted: new(true), Tag: []string{"trip"}},
			[]string{bakery, short},
			"0.00", "20.00",
		},
		"an external id": {&list{ExternalId: new(" bank 1 ")}, []string{plain}, "0.00", "10.00"},
		"an import":      {&list{ImportId: &imported}, []string{plain, bakery}, "0.00", "20.00"},
		"a receipt":      {&list{ReceiptId: &received}, []string{bakery, short}, "0.00", "20.00"},
		"attachments":    {&list{HasAttachments: new(true)}, []string{short}, "0.00", "10.00"},
		"no attachments": {
			&list{HasAttachments: new(false)},
			[]string{plain, bakery, split, other},
			"0.00",
			"40.00",
		},
		"import and receipt": {
			&list{ImportId: &imported, ReceiptId: &received, HasAttachments: new(false)},
			[]string{bakery},
			"0.00", "10.00",
		},
		"attachments of a wallet": {
			&list{HasAttachments: new(true), WalletId: []string{me.Wallet.String()}},
			[]string{short},
			"0.00", "10.00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, sort := range []string{newestFirst, oldestFirst, largestAmount, leastAmount} {
				tc.req.Sort, tc.req.Limit = &sort, new(int32(2))
				tc.req.Cursor, tc.req.Include = "", []string{includeTotals}
				var got []string
				for {
					resp, err := me.ListTransactions(me.Ctx, tc.req)
					require.NoError(t, err)
					for _, tr := range resp.GetTransactions() {
						got = append(got, tr.GetId())
					}
					require.Len(t, resp.GetTotals(), 1)
					require.EqualValues(t, len(tc.want), resp.GetTotals()[0].GetCount())
					require.Equal(t, tc.income, resp.GetTotals()[0].GetIncome())
					require.Equal(t, tc.expense, resp.GetTotals()[0].GetExpense())
					if !resp.GetPagination().GetHasMore() {
						break
					}
					tc.req.Cursor = resp.GetPagination().GetNextCursor()
				}
				slices.Sort(got)
				require.Equal(t, tc.want, got, "ids are in the order of creation")
			}
		})
	}
	for name, tc := range map[string]struct {
		req   *list
		field string
	}{
		"untagged with a tag": {&list{Untagged: new(true), Tag: []string{"a"}}, "untagged"},
		"no payee with one":   {&list{WithoutPayee: new(true), Payee: new("x")}, "withoutPayee"},
		"other payees than that": {
			&list{ExceptPayee: []string{"y"}, Payee: new("x")}, "exceptPayee",
		},
		"too many other payees": {&list{ExceptPayee: make([]string, 101)}, "exceptPayee"},
		"a category outside of another": {
			&list{ExceptCategoryId: []string{food}, CategoryId: []string{fun}},
			"exceptCategoryId",
		},
		"a wallet outside of another": {
			&list{ExceptWalletId: []string{food}, WalletId: []string{me.Wallet.String()}},
			"exceptWalletId",
		},
		"a malformed tag":     {&list{Tag: []string{"a/b"}}, "tag"},
		"too many tags":       {&list{Tag: make([]string, 201)}, "tag"},
		"a blank payee":       {&list{Payee: new(" ")}, "payee"},
		"a blank external id": {&list{ExternalId: new(" ")}, "externalId"},
		"a long external id":  {&list{ExternalId: new(strings.Repeat("x", 256))}, "externalId"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := me.ListTransactions(me.Ctx, tc.req)
			e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
			require.Equal(t, []string{tc.field}, fixture.FieldNames(e))
		})
	}
	_, err := me.ListTransactions(me.Ctx, &list{ImportId: new("x")})
	require.ErrorIs(t, err, request.ErrInvalidImportID)
	_, err = me.ListTransactions(me.Ctx, &list{ReceiptId: new("x")})
	require.ErrorIs(t, err, request.ErrInvalidReceiptID)
	resp, err := me.ListTransactions(me.Ctx, &list{ImportId: new(srv.NewID().String())})
	require.NoError(t, err)
	require.Empty(t, resp.GetTransactions())
}

// manyTags returns names of tags that no transaction has.
func manyTags(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("unknown ", i)
	}
	return names
}

// TestListTransactionsEtags changes one of two transactions, and requires the versions that each
// page has.
func TestListTransactionsEtags(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	me.Create(t, me.Spends("1"))
	changed := me.Create(t, me.Spends("2"))
	_, err := me.updateAll(&transactionChange{Id: changed.GetId(), Payee: new("Rex")})
	require.NoError(t, err)

	req := &listRequest{Limit: new(int32(1)), Sort: new("amount")}
	plain, err := me.ListTransactions(me.Ctx, req)
	require.NoError(t, err)
	require.Empty(t, plain.GetEtags())
	req.Include = []string{includeEtags}
	for _, want := range []string{`"2"`, `"1"`} {
		page, err := me.ListTransactions(me.Ctx, req)
		require.NoError(t, err)
		require.Equal(t, []string{want}, page.GetEtags())
		req.Cursor = page.GetPagination().GetNextCursor()
	}
	require.Empty(t, req.GetCursor())
}
