package sync

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// TestListChangesDuringWrites follows an account while four writers change it on two replicas and
// requests are canceled at random moments, for many seeds. At the end, the copy equals the lists.
// PostgreSQL may have committed a canceled write or not.
func TestListChangesDuringWrites(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	seeds := 200
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			followDuringWrites(t, srv, uint64(seed))
		})
	}
}

// TestListChangesAfterEachWrite follows an account with pages of one object, so that each two
// objects have a border between them. After each write, the copy equals the lists.
func TestListChangesAfterEachWrite(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	seeds := 20
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			user := srv.NewUser(t.Context(), t)
			m := newMirror(srv)
			w := writer{
				server: srv, user: user, random: rand.New(rand.NewPCG(uint64(seed), 0)),
				patient: true,
			}
			for range 50 {
				w.write()
				m.follow(user.Ctx, t, 1)
				m.requireEqual(user.Ctx, t)
			}
		})
	}
}

// followDuringWrites runs one seed.
func followDuringWrites(t *testing.T, srv *server, seed uint64) {
	t.Helper()
	user := srv.NewUser(t.Context(), t)
	// The replica has a separate batcher, so its statements wait for the owner's number.
	replica := serve(t.Context(), fixture.On(srv.DB))
	mirror := newMirror(srv)
	done := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 4 {
		w := writer{server: []*server{
			srv, replica,
		}[i%2], user: user, random: rand.New(rand.NewPCG(seed, uint64(i)))}
		writers.Go(func() {
			for range 8 {
				w.write()
			}
		})
	}
	go func() {
		writers.Wait()
		close(done)
	}()
	random := rand.New(rand.NewPCG(seed, 4))
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			_, err := mirror.page(user.Ctx, int32(1+random.IntN(6)))
			require.NoError(t, err)
		}
	}
	// A canceled statement may still commit until PostgreSQL processes the cancellation. A change
	// that the reader missed would stay missing.
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		mirror.follow(user.Ctx, c, 3)
		mirror.requireEqual(user.Ctx, c)
	}, time.Minute, 50*time.Millisecond)
}

// writer does random writes on one replica.
type writer struct {
	server                         *server
	user                           fixture.User
	random                         *rand.Rand
	wallet, category, transactions []string
	transfers, rules               []string
	// patient is set if no write is canceled.
	patient bool
}

// pick returns one of ids, or an empty text.
func (w *writer) pick(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[w.random.IntN(len(ids))]
}

// write does one write. Every fourth is canceled after a random time, unless the writer is patient.
func (w *writer) write() {
	ctx := w.user.Ctx
	if !w.patient && w.random.IntN(4) == 0 {
		canceled, cancel := context.WithTimeout(ctx,
			time.Duration(w.random.IntN(5000))*time.Microsecond)
		defer cancel()
		ctx = canceled
	}
	spends := w.user.Spends("1.50")
	if other := w.pick(w.wallet); other != "" {
		spends.WalletId = other
	}
	if other := w.pick(w.category); other != "" {
		spends.CategoryId = other
	}
	switch w.random.IntN(16) {
	case 0:
		if resp, err := w.server.CreateWallet(ctx, &ledgerv1.CreateWalletRequest{
			Name: "Wallet", Currency: "EUR",
		}); err == nil {
			w.wallet = append(w.wallet, resp.GetWallet().GetId())
		}
	case 1:
		req := &ledgerv1.CreateCategoryRequest{Name: uuid.NewString()}
		if resp, err := w.server.CreateCategory(ctx, req); err == nil {
			w.category = append(w.category, resp.GetCategory().GetId())
		}
	case 2:
		_, _ = w.server.DeleteTransaction(ctx,
			&ledgerv1.DeleteTransactionRequest{Id: w.pick(w.transactions)})
	case 3:
		_, _ = w.server.UpdateTransaction(ctx, &ledgerv1.UpdateTransactionRequest{
			Id: w.pick(w.transactions), WalletId: &spends.WalletId, Amount: new("2.50"),
		})
	case 4:
		_, _ = w.server.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{
			Id: w.pick(w.category), ReassignTo: new(w.user.Category.String()),
		})
	case 5:
		_, _ = w.server.DeleteWallet(ctx, &ledgerv1.DeleteWalletRequest{Id: w.pick(w.wallet)})
	case 6:
		_, _ = w.server.settings.UpdateSettings(ctx,
			&ledgerv1.UpdateSettingsRequest{DefaultWalletId: &spends.WalletId})
	case 7:
		_, _ = w.server.CreateTransactions(ctx, fixture.Bulk(spends, spends))
	case 8, 9, 10, 11, 12, 13:
		w.writeDetails(ctx, spends)
	default:
		if resp, err := w.server.CreateTransaction(ctx, spends); err == nil {
			w.transactions = append(w.transactions, resp.GetTransaction().GetId())
		}
	}
}

// writeDetails writes a transfer, splits, tags or rules of tags. Some of the names of tags differ
// only in case.
func (w *writer) writeDetails(ctx context.Context, spends *ledgerv1.CreateTransactionRequest) {
	names := []string{"Trip", "trip", "TRIP", "Work", "work", "Gift"}
	tag, transfer := names[w.random.IntN(len(names))], w.pick(w.transfers)
	switch w.random.IntN(13) {
	case 0, 1:
		resp, err := w.server.transfers.CreateTransfer(ctx, &ledgerv1.CreateTransferRequest{
			FromWalletId: w.user.Wallet.String(), ToWalletId: spends.GetWalletId(),
			ToCurrency: new("USD"), Amount: "3", ToAmount: new("4"), Date: "2026-03-14",
			Tags: []string{tag},
		})
		if err == nil {
			w.transfers = append(w.transfers, resp.GetTransfer().GetId())
		}
	case 2:
		_, _ = w.server.transfers.UpdateTransfer(ctx, &ledgerv1.UpdateTransferRequest{
			Id: transfer, ToWalletId: &spends.WalletId, Amount: new("5"),
		})
	case 3:
		_, _ = w.server.transfers.UnlinkTransfer(ctx,
			&ledgerv1.UnlinkTransferRequest{Id: transfer, CategoryId: spends.GetCategoryId()})
	case 4:
		_, _ = w.server.transfers.DeleteTransfer(ctx, &ledgerv1.DeleteTransferRequest{Id: transfer})
	case 5, 6, 7:
		_, _ = w.server.tags.UpdateTag(ctx, &ledgerv1.UpdateTagRequest{
			Tag: tag, Name: &names[w.random.IntN(len(names))], Merge: new(true),
		})
	case 8:
		_, _ = w.server.tags.DeleteTag(ctx, &ledgerv1.DeleteTagRequest{Tag: tag})
	case 9, 10:
		w.writeRule(ctx, tag)
	default:
		_, _ = w.server.UpdateTransaction(ctx, &ledgerv1.UpdateTransactionRequest{
			Id: w.pick(w.transactions), Tags: &ledgerv1.Tags{Values: []string{tag}},
			Amount: new("2.50"),
			Splits: &ledgerv1.Splits{Values: []*ledgerv1.Split{
				{CategoryId: w.user.Category.String(), Amount: "1"},
				{CategoryId: spends.GetCategoryId(), Amount: "1.50"},
			}},
		})
	}
}

// writeRule creates, changes or deletes a rule of a tag.
func (w *writer) writeRule(ctx context.Context, tag string) {
	actions := []*ledgerv1.RuleAction{{Kind: "addTag", Value: tag}}
	switch id := w.pick(w.rules); w.random.IntN(4) {
	case 0:
		_, _ = w.server.rules.UpdateRule(ctx,
			&ledgerv1.UpdateRuleRequest{Id: id, Name: new(uuid.NewString())})
	case 1:
		_, _ = w.server.rules.DeleteRule(ctx, &ledgerv1.DeleteRuleRequest{Id: id})
	default:
		resp, err := w.server.rules.CreateRule(ctx, &ledgerv1.CreateRuleRequest{
			Name:       "Rule",
			Conditions: []*ledgerv1.RuleCondition{{Field: "tag", Op: "in", Values: []string{tag}}},
			Actions:    actions,
		})
		if err == nil {
			w.rules = append(w.rules, resp.GetRule().GetId())
		}
	}
}
