package transactions

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// transaction returns a new transaction of the person.
func (p person) transaction(amountMinor int64) posting.Transaction {
	return posting.Transaction{
		ID: p.NewID(), OwnerID: p.ID, AmountMinor: amountMinor, Date: fixture.Today,
		Currency: "EUR", WalletID: p.Wallet, CategoryID: &p.Category,
		Version: 1, CreatedAt: fixture.Today, UpdatedAt: fixture.Today,
	}
}

// submit queues a transaction of the person and waits for its outcome.
func (p person) submit(
	ctx context.Context, amountMinor int64, change ...func(*posting.Transaction),
) (posting.Transaction, bool, error) {
	t := p.transaction(amountMinor)
	for _, c := range change {
		c(&t)
	}
	event := p.Service.Ledger.Created(ctx, t.OwnerID, t.Proto())
	written, err := p.batcher.submit(ctx, t, event, idem.Record{})
	return t, written, err
}

func TestBatcherSharesCommit(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	idle := newBatcher(srv.DB, func() {})
	var waiting sync.WaitGroup
	for i := range 50 {
		waiting.Go(func() {
			tr := me.transaction(int64(i + 1))
			event := me.Service.Ledger.Created(t.Context(), tr.OwnerID, tr.Proto())
			written, err := idle.submit(t.Context(), tr, event, idem.Record{})
			require.NoError(t, err)
			require.True(t, written)
		})
	}
	require.Eventually(t, func() bool { return idle.length() == 50 }, time.Minute, time.Millisecond)
	idle.run(t.Context())
	waiting.Wait()
	commits := pgtest.Value[int](t, srv.DB, `SELECT count(DISTINCT xmin::text) FROM transactions`)
	require.Equal(t, 1, commits)
	srv.RequireConsistent(t)
}

// TestBatcherGroupsByOwner takes groups from a queue of two owners.
func TestBatcherGroupsByOwner(t *testing.T) {
	t.Parallel()
	first, second := uuid.New(), uuid.New()
	for single, want := range map[bool][]int{false: {4, 0}, true: {2, 2, 0}} {
		batcher := newBatcher(nil, nil)
		batcher.single = single
		for _, owner := range []uuid.UUID{first, second, first, second} {
			require.True(t, batcher.enqueue(&pendingCreate{
				ctx: t.Context(), t: posting.Transaction{OwnerID: owner},
			}))
		}
		for len(batcher.wake) > 0 {
			<-batcher.wake
		}
		for i, n := range want {
			group := batcher.take()
			require.Len(t, group, n, "group %d, a single owner: %t", i, single)
			require.Len(t, batcher.wake, min(1, batcher.length()),
				"a writer takes the other owner's")
			for len(batcher.wake) > 0 {
				<-batcher.wake
			}
		}
	}
}

// Requests with expired, new, repeated and conflicting keys share groups with other requests.
func TestBatcherIdempotencyKeys(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, other := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	const repeats, keys = 4, 8
	pgtest.Exec(t, srv.DB, `
		INSERT INTO idempotency_keys (scope, key_hash, request_mac, created_at)
		VALUES ($1, $2, '', now() - interval '25 hours')`,
		me.ID.String(), expiredHash(t, "key 0"))
	var ids [keys]sync.Map
	var replayed atomic.Int64
	var running sync.WaitGroup
	for index := range keys * repeats {
		running.Go(func() {
			req := me.Spends("1")
			req.IdempotencyKey = fmt.Sprintf("key %d", index%keys)
			resp, err := me.CreateTransaction(me.Ctx, req)
			require.NoError(t, err)
			ids[index%keys].Store(resp.GetTransaction().GetId(), true)
			if resp.GetReplayed() {
				replayed.Add(1)
			}
		})
		running.Go(func() { me.Create(t, me.Spends("1")) })
		running.Go(func() {
			req := other.Spends("1")
			req.IdempotencyKey, req.WalletId = fmt.Sprintf("key %d", index%keys), me.Wallet.String()
			_, err := other.CreateTransaction(other.Ctx, req)
			fixture.RequireReason(t, err, codes.NotFound, "WALLET_NOT_FOUND")
		})
	}
	running.Wait()
	for i := range ids {
		answered := 0
		ids[i].Range(func(any, any) bool { answered++; return true })
		require.Equal(t, 1, answered, "the requests of a key have one answer")
	}
	require.EqualValues(t, keys*(repeats-1), replayed.Load())
	require.Equal(t, fmt.Sprintf("-%d.00", keys+keys*repeats), me.Balances(t, me.Wallet)["EUR"])
	conflicting := me.Spends("2")
	conflicting.IdempotencyKey = "key 1"
	_, err := me.CreateTransaction(me.Ctx, conflicting)
	fixture.RequireReason(t, err, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT")
	free := other.Spends("1")
	free.IdempotencyKey = "key 1"
	require.False(t, mustCreate(t, other, free).GetReplayed(),
		"a refused request leaves its key free")
	srv.RequireConsistent(t)
}

// expiredHash returns the stored form of a key.
func expiredHash(t *testing.T, key string) []byte {
	t.Helper()
	call := idem.Call{Key: key, Request: &createRequest{}}
	record, err := call.Record(&ledgerv1.CreateTransactionResponse{})
	require.NoError(t, err)
	return record.KeyHash
}

func mustCreate(t *testing.T, p person, req *createRequest) *ledgerv1.CreateTransactionResponse {
	t.Helper()
	resp, err := p.CreateTransaction(p.Ctx, req)
	require.NoError(t, err)
	return resp
}

func TestBatcherIsolatesBadTransaction(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, other := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	const most = 9_000_000_000_000_000_000
	bad := map[string]func(*posting.Transaction){
		"a wallet of another":   func(tr *posting.Transaction) { tr.WalletID = other.Wallet },
		"a category of another": func(tr *posting.Transaction) { tr.CategoryID = &other.Category },
		"an unknown wallet":     func(tr *posting.Transaction) { tr.WalletID = uuid.New() },
		"more than a balance":   func(tr *posting.Transaction) { tr.AmountMinor = most },
	}
	var running sync.WaitGroup
	var created atomic.Int64
	for range 20 {
		for name, spoil := range bad {
			running.Go(func() {
				_, written, err := me.submit(t.Context(), 1, spoil)
				require.False(t, written && err == nil, name)
			})
			running.Go(func() {
				_, written, err := me.submit(t.Context(), 1)
				require.NoError(t, err)
				require.True(t, written)
				created.Add(1)
			})
		}
	}
	running.Wait()
	resp, err := me.GetWallet(me.Ctx, &ledgerv1.GetWalletRequest{Id: me.Wallet.String()})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("0.%02d", created.Load()), resp.GetWallet().GetBalance())
	srv.RequireConsistent(t)
}

func TestBatcherDropsCanceledRequest(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	me.batcher = newBatcher(srv.DB, func() {})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	tr, _, err := me.submit(gone, -5)
	require.ErrorIs(t, err, context.Canceled)
	me.batcher.run(t.Context())
	_, written, err := me.submit(t.Context(), -7)
	require.NoError(t, err)
	require.True(t, written)
	_, err = posting.Select(t.Context(), srv.DB, me.ID, tr.ID)
	require.Error(t, err)
	srv.RequireConsistent(t)
}

// TestCreateTransactionQueueLimit fills a queue that no writer empties. The contexts have ended, so
// that a request that is queued returns, too.
func TestCreateTransactionQueueLimit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	me.batcher = newBatcher(s.DB, func() {})
	ended, cancel := context.WithCancel(me.Ctx)
	cancel()
	for i := range 4096 {
		_, err := me.CreateTransaction(ended, me.Spends("5"))
		require.ErrorIs(t, err, context.Canceled, "request %d is queued", i+1)
	}
	_, err := me.CreateTransaction(ended, me.Spends("5"))
	fixture.RequireReason(t, err, codes.Unavailable, "SERVICE_UNAVAILABLE")
	require.Equal(t, 4096, me.batcher.length())
}

func BenchmarkSubmit(b *testing.B) {
	for _, batched := range []bool{false, true} {
		b.Run(fmt.Sprint("batched ", batched), func(b *testing.B) {
			srv := setup(b)
			people := make([]person, 32)
			for i := range people {
				people[i] = newPerson(b.Context(), b, srv)
			}
			var next atomic.Int64
			b.SetParallelism(16)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				me := people[next.Add(1)%int64(len(people))]
				for pb.Next() {
					if batched {
						_, written, err := me.submit(b.Context(), -1)
						if err != nil || !written {
							b.Error(err)
						}
						continue
					}
					ts := []posting.Transaction{me.transaction(-1)}
					event := me.Service.Ledger.Created(b.Context(), me.ID, ts[0].Proto())
					rows, err := outbox.Encode(event)
					if err != nil {
						b.Fatal(err)
					}
					_, err = posting.Insert(b.Context(), srv.DB, 0, ts, rows,
						make([]idem.Record, 1))
					if err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
