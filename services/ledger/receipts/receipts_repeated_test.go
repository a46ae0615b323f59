package receipts

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateTransactionsFromReceiptDuplicateFile(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	first := me.upload(t, asItIs)
	second := me.upload(t, asItIs)
	require.Equal(t, []string{"DUPLICATE_OF"}, warnings(second))
	require.Equal(t, first.GetReceipt().GetId(),
		second.GetReceipt().GetWarnings()[0].GetReceiptId())
	require.Len(t, second.GetTransactions(), 4)

	recognitions := me.fake.Calls.Load()
	req := me.request()
	req.OnDuplicate = new("reject")
	me.refusesUpload(t, req, codes.AlreadyExists, "RECEIPT_DUPLICATE")
	require.Equal(t, recognitions, me.fake.Calls.Load())

	req.Receipt = []byte("another photograph")
	_, err := me.CreateTransactionsFromReceipt(me.Ctx, req)
	require.NoError(t, err)

	other := me
	other.Ctx = fixture.ActAs(t.Context(), me.NewID())
	other.Wallet = me.MakeWallet(other.Ctx, t, "Cash", "EUR")
	other.Category = me.MakeCategory(other.Ctx, t, "Food")
	require.Empty(t, warnings(other.upload(t, asItIs)))
}

const uploads = 6

// race uploads many times at once.
func (p shopper) race(
	change func(*form),
) ([]*ledgerv1.CreateTransactionsFromReceiptResponse, []error) {
	answers := make([]*ledgerv1.CreateTransactionsFromReceiptResponse, uploads)
	errs := make([]error, uploads)
	var racing sync.WaitGroup
	for i := range uploads {
		racing.Go(func() {
			req := p.request()
			change(req)
			answers[i], errs[i] = p.CreateTransactionsFromReceipt(p.Ctx, req)
		})
	}
	racing.Wait()
	return answers, errs
}

func TestCreateTransactionsFromReceiptConcurrentDuplicates(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	answers, errs := me.race(func(req *form) { req.OnDuplicate = new("reject") })
	created := 0
	for i, err := range errs {
		if err == nil {
			created++
			require.Len(t, answers[i].GetTransactions(), 4)
			continue
		}
		require.ErrorIs(t, err, errReceiptDuplicate)
	}
	require.Equal(t, 1, created)
	n := pgtest.Value[int](t, me.DB, `SELECT count(*) FROM transactions`)
	require.Equal(t, 4, n)
}

func TestCreateTransactionsFromReceiptReplaysKey(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	keyed := func(req *form) {
		req.IdempotencyKey, req.OnDuplicate = "k", new("reject")
	}
	first := me.upload(t, keyed)
	after := me.Stored(t)
	again := me.upload(t, keyed)
	require.Equal(t, after, me.Stored(t))
	require.EqualValues(t, 1, me.fake.Calls.Load())
	require.True(t, again.GetReplayed())
	again.Replayed = false
	require.True(t, proto.Equal(first, again))

	req := me.request()
	req.IdempotencyKey, req.Receipt = "k", []byte("another photograph")
	me.refusesUpload(t, req, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT")
	req.IdempotencyKey = strings.Repeat("k", 256)
	me.refusesUpload(t, req, codes.InvalidArgument, "VALIDATION_ERROR")
}

func TestCreateTransactionsFromReceiptConcurrentKey(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	answers, errs := me.race(func(req *form) { req.IdempotencyKey = "k" })
	for i := range uploads {
		require.NoError(t, errs[i])
		answers[i].Replayed = false
		require.True(t, proto.Equal(answers[0], answers[i]))
	}
	n := pgtest.Value[int](t, me.DB, `SELECT count(*) FROM transactions`)
	require.Equal(t, 4, n)
}

func TestCreateTransactionsFromReceiptReplaysCorrections(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	counted := &counter{counts: map[string]int64{}}
	me.corrected = counted
	keyed := func(req *form) {
		req.IdempotencyKey = "k"
		req.Corrections = &ledgerv1.ReceiptCorrections{Merchant: new("Green Grocer")}
	}
	first := me.upload(t, keyed)
	again := me.upload(t, keyed)
	require.True(t, again.GetReplayed())
	again.Replayed = false
	require.True(t, proto.Equal(first, again))
	require.Equal(t, map[string]int64{"merchant": 1}, counted.counts)
	req := me.request()
	req.IdempotencyKey = "k"
	req.Corrections = &ledgerv1.ReceiptCorrections{Merchant: new("Another")}
	me.refusesUpload(t, req, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT")
}
