package transactions

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// get returns a transaction as GetTransaction does.
func (p person) get(t *testing.T, id string) *ledgerv1.Transaction {
	t.Helper()
	resp, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: id})
	require.NoError(t, err)
	return resp.GetTransaction()
}

func TestCreateTransactionDetails(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	req := me.Spends("5")
	req.Payee, req.Notes = "  Bakery ", "one\n\ntwo\n"
	req.ExternalId, req.IdempotencyKey = "bank:1", "key"
	req.Tags = []string{"Straße", "Trip to Rome", "straße", " TRIP TO ROME "}
	resp, err := me.CreateTransaction(me.Ctx, req)
	require.NoError(t, err)
	created := resp.GetTransaction()
	require.Equal(t, []string{"Bakery", "one\n\ntwo", "bank:1"},
		[]string{created.GetPayee(), created.GetNotes(), created.GetExternalId()})
	require.Equal(t, []string{"Straße", "Trip to Rome"}, created.GetTags())
	require.True(t, proto.Equal(created, me.get(t, created.GetId())))
	require.True(t,
		proto.Equal(created, me.LastEvent(t).(*ledgerv1.TransactionCreated).GetTransaction()))
	again, err := me.CreateTransaction(me.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(created, again.GetTransaction()))

	other := me.Spends("6")
	other.Tags = []string{"trip TO rome", "ÉTÉ"}
	require.Equal(t, []string{"Trip to Rome", "ÉTÉ"}, me.Create(t, other).GetTags())
	bulk := fixture.Bulk(me.Spends("1"), me.Spends("2"))
	bulk.Transactions[0].Tags, bulk.Transactions[1].Tags = []string{"été"}, []string{"New", "NEW"}
	many, err := me.CreateTransactions(me.Ctx, bulk)
	require.NoError(t, err)
	require.Equal(t, []string{"ÉTÉ"}, many.GetTransactions()[0].GetTags())
	require.Equal(t, []string{"New"}, many.GetTransactions()[1].GetTags())

	list, err := me.ListTransactions(me.Ctx, &listRequest{Q: new("ONE")})
	require.NoError(t, err)
	require.Len(t, list.GetTransactions(), 1, "a search finds notes")
	require.True(t, proto.Equal(created, list.GetTransactions()[0]))
	srv.RequireConsistent(t)
}

func TestUpdateTransactionDetails(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	req := me.Spends("5")
	req.Tags, req.Payee = []string{"Work"}, "Bakery"
	before := me.Create(t, req)
	resp, err := me.UpdateTransaction(me.Ctx, &updateRequest{
		Id: before.GetId(), Payee: new("Café"), Notes: new("n"),
		Tags: &ledgerv1.Tags{Values: []string{"x", "WORK", "X"}},
	})
	require.NoError(t, err)
	after := resp.GetTransaction()
	require.Equal(t, []string{"x", "Work"}, after.GetTags())
	require.Equal(t, []string{"Café", "n"}, []string{after.GetPayee(), after.GetNotes()})
	event := me.LastEvent(t).(*ledgerv1.TransactionUpdated)
	require.True(t, proto.Equal(before, event.GetBefore()), event)
	require.True(t, proto.Equal(after, event.GetAfter()), event)
	resp, err = me.UpdateTransaction(me.Ctx,
		&updateRequest{Id: before.GetId(), Payee: new(""), Tags: &ledgerv1.Tags{}})
	require.NoError(t, err)
	require.Empty(t, resp.GetTransaction().GetTags())
	require.Empty(t, resp.GetTransaction().GetPayee())
	require.Equal(t, "n", me.get(t, before.GetId()).GetNotes(), "other fields keep their values")
	srv.RequireConsistent(t)
}

func TestCreateTransactionDetailErrors(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	for name, tc := range map[string]struct {
		change func(*createRequest)
		field  string
	}{
		"a payee too long": {
			func(r *createRequest) { r.Payee = strings.Repeat("x", 201) }, "payee",
		},
		"notes too long": {func(r *createRequest) { r.Notes = strings.Repeat("x", 4001) }, "notes"},
		"a tag too long": {
			func(r *createRequest) { r.Tags = []string{"a", strings.Repeat("x", 51)} }, "tags[1]",
		},
		"a tag with a slash":   {func(r *createRequest) { r.Tags = []string{"a/b"} }, "tags[0]"},
		"a tag with a comma":   {func(r *createRequest) { r.Tags = []string{"a,b"} }, "tags[0]"},
		"a tag with a newline": {func(r *createRequest) { r.Tags = []string{"a\nb"} }, "tags[0]"},
		"a tag that is a path": {func(r *createRequest) { r.Tags = []string{".."} }, "tags[0]"},
		"a blank tag":          {func(r *createRequest) { r.Tags = []string{" "} }, "tags[0]"},
		"21 tags":              {func(r *createRequest) { r.Tags = make([]string, 21) }, "tags"},
		"a blank external id":  {func(r *createRequest) { r.ExternalId = " " }, "externalId"},
		"an external id of a pending payment": {
			func(r *createRequest) { r.ExternalId = " pending:1" }, "externalId",
		},
		"an external id too long": {
			func(r *createRequest) { r.ExternalId = strings.Repeat("x", 256) }, "externalId",
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := me.Spends("5")
			tc.change(req)
			e := srv.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
				_, err := srv.CreateTransaction(me.Ctx, req)
				return err
			})
			require.Equal(t, []string{tc.field}, fixture.FieldNames(e))
		})
	}
}

// TestCreateTransactionTagLimit creates new tags from several requests at once, up to the limit.
func TestCreateTransactionTagLimit(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	pgtest.Exec(t, srv.DB, `
		INSERT INTO tags (owner_id, key, name, created_at)
		SELECT $1, 'tag ' || n, 'Tag ' || n, now()
		FROM generate_series(1, 1995) AS n`, me.ID)
	var mu sync.Mutex
	var wg sync.WaitGroup
	created := 0
	for _, name := range strings.Split("a b c d e f g h i j", " ") {
		wg.Go(func() {
			req := me.Spends("1")
			req.Tags = []string{name, "TAG 5"}
			_, err := me.CreateTransaction(me.Ctx, req)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				created++
				return
			}
			fixture.RequireReason(t, err, codes.AlreadyExists, "LIMIT_REACHED")
		})
	}
	wg.Wait()
	require.Equal(t, 5, created)
	req := me.Spends("1")
	req.Tags = []string{"tag 1"}
	require.Equal(t, []string{"Tag 1"}, me.Create(t, req).GetTags(),
		"existing tags can still be used")
	_, err := me.updateAll(&transactionChange{
		Id: me.Create(t, me.Spends("1")).GetId(), AddTags: &ledgerv1.Tags{Values: []string{"k"}},
	})
	fixture.RequireReason(t, err, codes.AlreadyExists, "LIMIT_REACHED")
	srv.RequireConsistent(t)
}

func TestExternalIDs(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	external := func(id string) *createRequest {
		req := me.Spends("1")
		req.ExternalId = id
		return req
	}
	first := me.Create(t, external("1")).GetId()
	requireDuplicate := func(t *testing.T, err error, field, id string) {
		t.Helper()
		e := fixture.RequireReason(t, err, codes.AlreadyExists, "TRANSACTION_DUPLICATE")
		require.Equal(t, []apierr.Field{{Name: field, Message: id}}, e.Fields)
	}
	_, err := me.CreateTransaction(me.Ctx, external("1"))
	requireDuplicate(t, err, "externalId", first)
	tagged := external("1")
	tagged.Tags = []string{"x"}
	_, err = me.CreateTransaction(me.Ctx, tagged)
	requireDuplicate(t, err, "externalId", first)
	_, err = me.CreateTransactions(me.Ctx,
		fixture.Bulk(me.Spends("1"), external("2"), external("1")))
	requireDuplicate(t, err, "transactions[2].externalId", first)
	_, err = me.CreateTransactions(me.Ctx,
		fixture.Bulk(external("3"), external("4"), external("3")))
	requireDuplicate(t, err, "transactions[2].externalId", "is also that of transactions[0]")

	elsewhere := external("1")
	elsewhere.WalletId = me.MakeWallet(me.Ctx, t, "Bank", "EUR").String()
	second := me.Create(t, elsewhere).GetId()
	_, err = me.UpdateTransaction(me.Ctx,
		&updateRequest{Id: second, WalletId: new(me.Wallet.String())})
	requireDuplicate(t, err, "externalId", first)
	_, err = me.DeleteTransaction(me.Ctx, &deleteRequest{Id: first})
	require.NoError(t, err)
	_, err = me.UpdateTransaction(me.Ctx,
		&updateRequest{Id: second, WalletId: new(me.Wallet.String())})
	require.NoError(t, err, "the id is free after a deletion")
	srv.RequireConsistent(t)
}

// TestExternalIDsConcurrently creates each external id from several clients of two replicas at
// once, alone, tagged and in batches whose orders differ. Transactions of other users that share a
// statement with them are created.
func TestExternalIDsConcurrently(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, neighbor := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	replica := serve(t.Context(), fixture.On(srv.DB))
	ids := strings.Split("a b c d e f g h", " ")
	var mu sync.Mutex
	var wg sync.WaitGroup
	created := 0
	count := func(n int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			created += n
			return
		}
		fixture.RequireReason(t, err, codes.AlreadyExists, "TRANSACTION_DUPLICATE")
	}
	for _, id := range ids {
		for _, on := range []*server{srv, replica} {
			for _, tags := range [][]string{nil, {"x"}} {
				req := me.Spends("1")
				req.ExternalId, req.Tags = id, tags
				wg.Go(func() {
					_, err := on.CreateTransaction(me.Ctx, req)
					count(1, err)
				})
			}
			wg.Go(func() {
				_, err := on.CreateTransaction(neighbor.Ctx, neighbor.Spends("1"))
				require.NoError(t, err)
			})
		}
	}
	// A server of tests admits one batch at a time.
	wg.Go(func() {
		for i := range ids {
			one, two := me.Spends("1"), me.Spends("1")
			one.ExternalId, two.ExternalId = ids[(i+1)%len(ids)], ids[i]
			resp, err := replica.CreateTransactions(me.Ctx, fixture.Bulk(one, two))
			count(len(resp.GetTransactions()), err)
		}
	})
	wg.Wait()
	require.Equal(t, len(ids), created)
	srv.RequireConsistent(t)
}
