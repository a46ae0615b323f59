package imports

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// TestUndoImportCounterparts undoes imports whose commit made transfers with existing transactions.
func TestUndoImportCounterparts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// change is a write of the user between the commit and the undo.
		change func(t require.TestingT, s saver, own, other posting.Transaction)
		force  bool
		// kept is set if the undo keeps the transfer.
		kept bool
		// restored is set if the undo must restore the whole database.
		restored bool
	}{
		"restores the category": {restored: true},
		"restores the category of a transaction with attachments": {
			change: func(t require.TestingT, s saver, _, other posting.Transaction) {
				s.attach(t, other)
			},
		},
		"keeps a transfer with attachments": {change: func(t require.TestingT, s saver, own, _ posting.Transaction) { s.attach(t, own) }, kept: true},
		"restores the category if it is forced": {
			change: func(t require.TestingT, s saver, own, _ posting.Transaction) {
				s.changeTransfer(t, *own.TransferID, "Moved")
			}, force: true,
		},
		"keeps a changed transfer": {
			change: func(t require.TestingT, s saver, own, _ posting.Transaction) {
				s.changeTransfer(t, *own.TransferID, "Moved")
			}, kept: true,
		},
		"follows a merge of the category": {
			change: func(t require.TestingT, s saver, _, _ posting.Transaction) {
				_, err := s.DeleteCategory(s.Ctx, &ledgerv1.DeleteCategoryRequest{
					Id: s.fun.String(), ReassignTo: new(s.Category.String()),
				})
				require.NoError(t, err)
			},
		},
		"keeps the transfer without the category": {
			change: func(t require.TestingT, s saver, _, _ posting.Transaction) {
				_, err := s.DeleteCategory(s.Ctx,
					&ledgerv1.DeleteCategoryRequest{Id: s.fun.String()})
				require.NoError(t, err)
			}, kept: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSaver(t)
			id := s.record(t, s.receives(5))[0]
			before := s.stored(t)
			m := s.commit(t, s.saves(t, 3, 20))
			if c.change != nil {
				c.change(t, s, s.imported(t, m, 0), s.Transaction(t, id))
			}
			m = s.undo(t, m, c.force)
			require.Equal(t, staging.Undone, m.GetStatus())
			s.requireBank(t, "100.00")
			other := s.Transaction(t, id)
			if c.kept {
				require.EqualValues(t, 1, m.GetCounts().GetSkipped())
				require.EqualValues(t, 1, m.GetCounts().GetUndone())
				require.NotNil(t, other.TransferID)
				require.Equal(t, "-100.00", s.balance(t))
				return
			}
			require.EqualValues(t, 2, m.GetCounts().GetUndone())
			require.Nil(t, other.TransferID)
			require.NotNil(t, other.CategoryID)
			require.True(t, slices.ContainsFunc(s.Events(t),
				func(e proto.Message) bool { _, ok := e.(*ledgerv1.TransferDeleted); return ok }))
			require.Equal(t, "0.00", s.balance(t))
			if c.restored {
				require.Equal(t, before, s.stored(t))
			}
		})
	}
	t.Run("gives a transaction back to the import that created it", func(t *testing.T) {
		t.Parallel()
		s := newSaver(t)
		first := s.mustUpload(t, "Date,Payee,Debit,Credit,Currency\n2026-02-05,From Cash,,100.00,EUR\n")
		updated, err := s.UpdateImport(s.Ctx, &ledgerv1.UpdateImportRequest{
			Id: first.GetId(), Accounts: []*ledgerv1.ImportAccount{{
				Key: first.GetAccounts()[0].GetKey(), WalletId: s.bank.String(),
			}},
		})
		require.NoError(t, err)
		first = s.commit(t, updated.GetImport())
		before := s.stored(t)
		m := s.commit(t, s.saves(t, 3))
		require.Equal(t, s.imported(t, first, 0).TransferID, s.imported(t, m, 0).TransferID)
		s.requireBank(t, "100.00")
		require.EqualValues(t, 1, s.undo(t, m, false).GetCounts().GetUndone())
		require.Equal(t, before, s.stored(t))
	})
}

// changeTransfer changes the description of a transfer.
func (s saver) changeTransfer(t require.TestingT, id uuid.UUID, description string) {
	changing := &transfers.Transfers{
		Ledger: s.Imports.Ledger, Cursors: s.Service.Cursors, Reads: s.Reads,
	}
	_, err := changing.UpdateTransfer(s.Ctx,
		&ledgerv1.UpdateTransferRequest{Id: id.String(), Description: &description})
	require.NoError(t, err)
}

// attach gives a transaction an attachment.
func (s saver) attach(t require.TestingT, tr posting.Transaction) {
	_, err := s.DB.Exec(s.Ctx, `
		WITH attachment AS (
			INSERT INTO attachments (owner_id, id, transaction_id, status, name, created_at)
			VALUES ($1, $3, $2, 'ready', 'a.txt', now())
		)
		UPDATE transactions SET attachment_count = 1 WHERE id = $2`, s.ID, tr.ID, s.NewID())
	require.NoError(t, err)
}
