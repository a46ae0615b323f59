package transactions

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestConcurrentWritesKeepSums lets many change the same wallets and categories at once, also
// delete and reassign them.
func TestConcurrentWritesKeepSums(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	bank := me.MakeWallet(me.Ctx, t, "Bank", "EUR")
	var working sync.WaitGroup
	for i := range 8 {
		working.Go(func() {
			for range 10 {
				if err := me.liveADay(me.Ctx, i, bank); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
	me.RequireConsistent(t)
}

// liveADay books an expense, moves it between wallets, and sorts it under a category that is then
// dissolved.
func (p person) liveADay(ctx context.Context, index int, bank uuid.UUID) error {
	created, err := p.CreateTransaction(ctx, p.Spends("1"))
	if err != nil {
		return err
	}
	brief, err := p.CreateCategory(ctx, &ledgerv1.CreateCategoryRequest{Name: p.NewID().String()})
	if err != nil {
		return err
	}
	change := &updateRequest{
		Id: created.GetTransaction().GetId(), WalletId: new(bank.String()),
		CategoryId: new(brief.GetCategory().GetId()),
	}
	if _, err := p.UpdateTransaction(ctx, change); err != nil {
		return err
	}
	dissolve := &ledgerv1.DeleteCategoryRequest{
		Id:         brief.GetCategory().GetId(),
		ReassignTo: new(p.Category.String()),
	}
	if _, err := p.DeleteCategory(ctx, dissolve); err != nil {
		return err
	}
	if index%2 == 0 {
		_, err = p.DeleteTransaction(ctx, &deleteRequest{Id: created.GetTransaction().GetId()})
	}
	return err
}
