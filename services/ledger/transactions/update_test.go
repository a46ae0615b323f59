package transactions

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

type transactionChange = ledgerv1.TransactionChange

func (p person) updateAll(
	items ...*transactionChange,
) (*ledgerv1.UpdateTransactionsResponse, error) {
	return p.UpdateTransactions(p.Ctx, &ledgerv1.UpdateTransactionsRequest{Items: items})
}

// etag returns the version of a transaction.
func (p person) etag(t *testing.T, id string) string {
	t.Helper()
	resp, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: id})
	require.NoError(t, err)
	return resp.GetEtag()
}

// TestUpdateTransactions changes each field in one request, and compares each item with the same
// change of a single transaction.
func TestUpdateTransactions(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	bank, fun := srv.MakeWallet(me.Ctx, t, "Bank", "EUR"), srv.MakeCategory(me.Ctx, t, "Fun")
	tags := func(names ...string) *ledgerv1.Tags { return &ledgerv1.Tags{Values: names} }
	changes := []*updateRequest{
		{CategoryId: new(fun.String())},
		{WalletId: new(bank.String()), Payee: new("Rex")},
		{Amount: new("7.5"), Type: new(posting.Income), Date: new("2026-05-01")},
		{Tags: tags("Film")},
		{AddTags: tags("film", "New"), RemoveTags: tags("WORK", "unknown")},
		{Splits: &ledgerv1.Splits{Values: []*ledgerv1.Split{
			{CategoryId: fun.String(), Amount: "1"},
			{CategoryId: me.Category.String(), Amount: "2"},
		}}},
		{Currency: new("JPY"), Amount: new("300"), Notes: new("in Japan"), Description: new("Tea")},
	}
	create := func() *ledgerv1.Transaction {
		req := me.Spends("3")
		req.Tags = []string{"Work", "Home"}
		return me.Create(t, req)
	}
	var items []*transactionChange
	var want []*ledgerv1.Transaction
	for _, change := range changes {
		req, id := proto.CloneOf(change), create().GetId()
		req.Id = create().GetId()
		single, err := me.UpdateTransaction(me.Ctx, req)
		require.NoError(t, err)
		expected := single.GetTransaction()
		expected.Id, expected.CreatedAt = id, me.get(t, id).GetCreatedAt()
		want = append(want, expected)
		items = append(items, &transactionChange{
			Id: id, Etag: `"1"`, Amount: req.Amount, Description: req.Description, Date: req.Date,
			Currency: req.Currency, WalletId: req.WalletId, CategoryId: req.CategoryId,
			Type: req.Type, Payee: req.Payee, Notes: req.Notes, Tags: req.GetTags(),
			Splits: req.GetSplits(), AddTags: req.GetAddTags(), RemoveTags: req.GetRemoveTags(),
		})
	}
	before := len(me.Events(t))
	resp, err := me.updateAll(items...)
	require.NoError(t, err)
	events := me.Events(t)[before:]
	require.Len(t, events, len(items))
	for i, got := range resp.GetTransactions() {
		require.Equal(t, want[i].String(), got.String())
		require.Equal(t, got.String(), me.get(t, got.GetId()).String())
		after := events[i].(*ledgerv1.TransactionUpdated).GetAfter()
		require.Equal(t, got.String(), after.String(), "in the order of the items")
		require.Equal(t, me.etag(t, got.GetId()), resp.GetEtags()[i])
	}
	require.Equal(t, []string{"Home", "Film", "New"}, resp.GetTransactions()[4].GetTags())
	srv.RequireConsistent(t)
}

// TestUpdateTransactionsIsAtomic sends valid changes with an invalid one.
func TestUpdateTransactionsIsAtomic(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	ids := make([]string, 3)
	for i := range ids {
		req := me.Spends("3")
		req.ExternalId = "bank:" + strconv.Itoa(i)
		ids[i] = me.Create(t, req).GetId()
	}
	bank := srv.MakeWallet(me.Ctx, t, "Bank", "EUR").String()
	there := me.Spends("3")
	there.ExternalId, there.WalletId = "bank:1", bank
	me.Create(t, there)
	foreign := stranger.Create(t, stranger.Spends("1")).GetId()
	many := &ledgerv1.Tags{}
	for i := range 20 {
		many.Values = append(many.Values, "tag"+strconv.Itoa(i))
	}
	tagged := me.Spends("3")
	tagged.Tags = []string{"one"}
	full := me.Create(t, tagged).GetId()
	unknown := srv.NewID().String()
	type change = transactionChange
	for name, tc := range map[string]struct {
		item   *change
		code   codes.Code
		reason string
		fields []string
	}{
		"nothing": {
			&change{Id: ids[1]}, codes.InvalidArgument, "EMPTY_UPDATE", []string{"items[1]"},
		},
		"a malformed id": {
			&change{Id: "x", Payee: new("A")}, codes.InvalidArgument, "INVALID_TRANSACTION_ID",
			[]string{"items[1]"},
		},
		"an unknown id": {
			&change{Id: unknown, Payee: new("A")}, codes.NotFound, "TRANSACTION_NOT_FOUND",
			[]string{"items[1]"},
		},
		"another user's": {
			&change{Id: foreign, Payee: new("A")}, codes.PermissionDenied,
			"TRANSACTION_OWNER_MISMATCH",
			[]string{"items[1]"},
		},
		"an id twice": {
			&change{Id: ids[0], Payee: new("A")}, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"items[1].id"},
		},
		"an old version": {
			&change{Id: ids[1], Etag: `"7"`, Payee: new("A")}, codes.FailedPrecondition,
			"VERSION_MISMATCH",
			[]string{"items[1]"},
		},
		"an unknown category": {
			&change{Id: ids[1], CategoryId: &unknown}, codes.NotFound,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"items[1].categoryId"},
		},
		"several fields": {
			&change{Id: ids[1], Amount: new("0"), WalletId: &unknown}, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"items[1].amount", "items[1].walletId"},
		},
		"tags twice": {
			&change{Id: ids[1], Tags: many, AddTags: many}, codes.InvalidArgument,
			"VALIDATION_ERROR",
			[]string{"items[1].tags"},
		},
		"too many tags": {
			&change{Id: full, AddTags: many}, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"items[1].addTags"},
		},
		"an external id of the other wallet": {
			&change{Id: ids[1], WalletId: &bank}, codes.AlreadyExists, "TRANSACTION_DUPLICATE",
			[]string{"items[1].externalId"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := me.updateAll(&change{Id: ids[0], Payee: new("Rex")}, tc.item,
					&change{Id: ids[2], Amount: new("9")})
				return err
			})
			require.Equal(t, tc.fields, fixture.FieldNames(e))
		})
	}
	t.Run("all problems", func(t *testing.T) {
		e := srv.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := me.updateAll(&change{Id: ids[0], Date: new("x")},
				&change{Id: unknown, Payee: new("A")}, &change{Id: ids[2], Amount: new("-1")})
			return err
		})
		require.ElementsMatch(t, []string{"items[0].date", "items[1]", "items[2].amount"},
			fixture.FieldNames(e))
	})
	for _, count := range []int{0, maxBulkItems + 1} {
		e := srv.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := me.updateAll(make([]*change, count)...)
			return err
		})
		require.Equal(t, []string{"items"}, fixture.FieldNames(e))
	}
}

// TestUpdateTransactionsRepeatsExternalID moves transactions of two wallets with the same external
// id to a third one. A retry cannot succeed, so the error names the two items.
func TestUpdateTransactionsRepeatsExternalID(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	third := srv.MakeWallet(me.Ctx, t, "Third", "EUR").String()
	var items []*transactionChange
	for _, name := range []string{"First", "Second"} {
		req := me.Spends("3")
		req.ExternalId, req.WalletId = "bank:1", srv.MakeWallet(me.Ctx, t, name, "EUR").String()
		items = append(items, &transactionChange{Id: me.Create(t, req).GetId(), WalletId: &third})
	}
	e := srv.RequireRejected(t, codes.AlreadyExists, "TRANSACTION_DUPLICATE", func() error {
		_, err := me.updateAll(items...)
		return err
	})
	require.Equal(t, []string{"items[1].externalId"}, fixture.FieldNames(e))
}
