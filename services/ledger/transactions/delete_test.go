package transactions

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func (p person) deleteAll(ids ...string) (*ledgerv1.DeleteTransactionsResponse, error) {
	return p.DeleteTransactions(p.Ctx, &ledgerv1.DeleteTransactionsRequest{Ids: ids})
}

func TestDeleteTransactions(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	kept, first, second := me.Create(t, me.Spends("1")), me.Create(t, me.Spends("2")),
		me.Create(t, me.Spends("4"))
	foreign := stranger.Create(t, stranger.Spends("1")).GetId()
	for name, tc := range map[string]struct {
		id     string
		code   codes.Code
		reason string
	}{
		"malformed": {"x", codes.InvalidArgument, "INVALID_TRANSACTION_ID"},
		"unknown":   {srv.NewID().String(), codes.NotFound, "TRANSACTION_NOT_FOUND"},
		"foreign":   {foreign, codes.PermissionDenied, "TRANSACTION_OWNER_MISMATCH"},
	} {
		t.Run(name, func(t *testing.T) {
			srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := me.deleteAll(first.GetId(), tc.id)
				return err
			})
		})
	}
	e := srv.RequireRejected(t, codes.NotFound, "TRANSACTION_NOT_FOUND", func() error {
		_, err := me.deleteAll(first.GetId(), first.GetId(), srv.NewID().String())
		return err
	})
	require.Equal(t, []string{"ids[2]"}, fixture.FieldNames(e), "by its place in the request")
	req := &ledgerv1.DeleteTransactionsRequest{
		Ids: []string{second.GetId(), first.GetId(), second.GetId()}, IdempotencyKey: "key",
	}
	before := len(me.Events(t))
	deleted, err := me.DeleteTransactions(me.Ctx, req)
	require.NoError(t, err)
	require.Equal(t, []string{second.GetId(), first.GetId()}, deleted.GetIds())
	events := me.Events(t)[before:]
	require.Len(t, events, 2)
	for i, want := range []*ledgerv1.Transaction{second, first} {
		require.Equal(t, want.String(),
			events[i].(*ledgerv1.TransactionDeleted).GetTransaction().String())
	}
	again, err := me.DeleteTransactions(me.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.Equal(t, "-1.00", me.Balances(t, me.Wallet)["EUR"])
	require.Equal(t, kept.String(), me.get(t, kept.GetId()).String())
	srv.RequireConsistent(t)
}

// TestDeleteTransactionsDeletesReceipts deletes some, and then all, transactions of a receipt.
func TestDeleteTransactionsDeletesReceipts(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	srv.OCR = &fixture.OCR{Receipt: fixture.Groceries()}
	me := newPerson(t.Context(), t, srv)
	bought, err := me.CreateTransactionsFromReceipt(me.Ctx,
		&ledgerv1.CreateTransactionsFromReceiptRequest{
			Receipt: []byte("a file"), WalletId: me.Wallet.String(),
			CategoryId: me.Category.String(),
		})
	require.NoError(t, err)
	ts, receipt := bought.GetTransactions(), bought.GetReceipt().GetId()
	require.Greater(t, len(ts), 2)
	var ids []string
	for _, transaction := range ts {
		ids = append(ids, transaction.GetId())
	}
	get := func() error {
		_, err := me.GetReceipt(me.Ctx, &ledgerv1.GetReceiptRequest{Id: receipt})
		return err
	}
	_, err = me.deleteAll(ids[:2]...)
	require.NoError(t, err)
	require.NoError(t, get())
	_, err = me.deleteAll(ids[2:]...)
	require.NoError(t, err)
	fixture.RequireReason(t, get(), codes.NotFound, "RECEIPT_NOT_FOUND")
	srv.RequireConsistent(t)
}

// statementCount counts statements.
type statementCount struct{ atomic.Int32 }

// TraceQueryStart implements pgx.QueryTracer.
func (c *statementCount) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData,
) context.Context {
	c.Add(1)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (c *statementCount) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestBulkStatements changes and deletes one transaction and the maximum, with the same number of
// statements.
func TestBulkStatements(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	var requests []*createRequest
	for range maxBulkItems + 1 {
		requests = append(requests, me.Spends("1"))
	}
	var ids []string
	for _, part := range [][]*createRequest{requests[:maxBulkItems], requests[maxBulkItems:]} {
		resp, err := me.CreateTransactions(me.Ctx, fixture.Bulk(part...))
		require.NoError(t, err)
		for _, transaction := range resp.GetTransactions() {
			ids = append(ids, transaction.GetId())
		}
	}
	config, count := srv.DB.Config(), &statementCount{}
	config.ConnConfig.Tracer = count
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	srv.Service.Ledger.DB = pool
	fun := srv.MakeCategory(me.Ctx, t, "Fun").String()
	counts := map[string][]int32{}
	for _, group := range [][]string{ids[maxBulkItems:], ids[:maxBulkItems]} {
		var items []*transactionChange
		for _, id := range group {
			items = append(items, &transactionChange{
				Id: id, CategoryId: &fun, AddTags: &ledgerv1.Tags{Values: []string{"Film"}},
			})
		}
		count.Store(0)
		_, err := me.updateAll(items...)
		require.NoError(t, err)
		counts["update"] = append(counts["update"], count.Swap(0))
		_, err = me.deleteAll(group...)
		require.NoError(t, err)
		counts["delete"] = append(counts["delete"], count.Load())
	}
	for _, n := range []int{1, maxBulkItems} {
		var items []*transactionChange
		var unknown []string
		for i := range n {
			unknown = append(unknown, srv.NewID().String())
			items = append(items, &transactionChange{Id: unknown[i], CategoryId: &fun})
		}
		count.Store(0)
		_, err := me.updateAll(items...)
		require.ErrorIs(t, err, posting.ErrTransactionNotFound)
		counts["rejected update"] = append(counts["rejected update"], count.Swap(0))
		_, err = me.deleteAll(unknown...)
		require.ErrorIs(t, err, posting.ErrTransactionNotFound)
		counts["rejected delete"] = append(counts["rejected delete"], count.Load())
	}
	for _, rejected := range []string{"rejected update", "rejected delete"} {
		require.Equal(t, counts[rejected][0], counts[rejected][1], rejected)
	}
	// The first change also creates the tag.
	require.GreaterOrEqual(t, counts["update"][0], counts["update"][1])
	require.Equal(t, counts["delete"][0], counts["delete"][1])
	srv.RequireConsistent(t)
}

// TestNotFoundFails requires that the error of the statement is not taken for a known id.
func TestNotFoundFails(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	tx, err := srv.DB.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
	_, err = posting.NotFound(me.Ctx, tx, me.ID, srv.NewID())
	require.Error(t, err)
	require.Nil(t, apierr.From(err))
}
