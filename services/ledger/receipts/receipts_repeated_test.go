package receipts

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateTransactionsFromReceiptDuplicateFile(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	first := p.upload(t, asItIs)
	second := p.upload(t, asItIs)
	require.Equal(t, []string{"DUPLICATE_OF"}, warnings(second))
	require.Equal(t, first.GetReceipt().GetId(),
		second.GetReceipt().GetWarnings()[0].GetReceiptId())
	require.Len(t, second.GetTransactions(), 4)

	recognitions := p.fake.Calls.Load()
	req := p.request()
	req.OnDuplicate = new("reject")
	p.refusesUpload(t, req, codes.AlreadyExists, "RECEIPT_DUPLICATE")
	require.Equal(t, recognitions, p.fake.Calls.Load())

	req.Receipt = []byte("another photograph")
	_, err := p.CreateTransactionsFromReceipt(p.Ctx, req)
	require.NoError(t, err)

	other := p
	other.Ctx = fixture.ActAs(t.Context(), p.NewID())
	other.Wallet = p.MakeWallet(other.Ctx, t, "Cash", "EUR")
	other.Category = p.MakeCategory(other.Ctx, t, "Food")
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
	p := newShopper(t)
	answers, errs := p.race(func(req *form) { req.OnDuplicate = new("reject") })
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
	var n int
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT count(*) FROM transactions`).Scan(&n))
	require.Equal(t, 4, n)
}

func TestCreateTransactionsFromReceiptReplaysKey(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	keyed := func(req *form) {
		req.IdempotencyKey, req.OnDuplicate = "k", new("reject")
	}
	first := p.upload(t, keyed)
	after := p.Stored(t)
	again := p.upload(t, keyed)
	require.Equal(t, after, p.Stored(t))
	require.EqualValues(t, 1, p.fake.Calls.Load())
	require.True(t, again.GetReplayed())
	again.Replayed = false
	require.True(t, proto.Equal(first, again))

	req := p.request()
	req.IdempotencyKey, req.Receipt = "k", []byte("another photograph")
	p.refusesUpload(t, req, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT")
	req.IdempotencyKey = strings.Repeat("k", 256)
	p.refusesUpload(t, req, codes.InvalidArgument, "VALIDATION_ERROR")
}

func TestCreateTransactionsFromReceiptConcurrentKey(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	answers, errs := p.race(func(req *form) { req.IdempotencyKey = "k" })
	for i := range uploads {
		require.NoError(t, errs[i])
		answers[i].Replayed = false
		require.True(t, proto.Equal(answers[0], answers[i]))
	}
	var n int
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT count(*) FROM transactions`).Scan(&n))
	require.Equal(t, 4, n)
}

func TestCreateTransactionsFromReceiptReplaysCorrections(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	counted := &counter{counts: map[string]int64{}}
	p.corrected = counted
	keyed := func(req *form) {
		req.IdempotencyKey = "k"
		req.Corrections = &ledgerv1.ReceiptCorrections{Merchant: new("Green Grocer")}
	}
	first := p.upload(t, keyed)
	again := p.upload(t, keyed)
	require.True(t, again.GetReplayed())
	again.Replayed = false
	require.True(t, proto.Equal(first, again))
	require.Equal(t, map[string]int64{"merchant": 1}, counted.counts)
	req := p.request()
	req.IdempotencyKey = "k"
	req.Corrections = &ledgerv1.ReceiptCorrections{Merchant: new("Another")}
	p.refusesUpload(t, req, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT")
}
