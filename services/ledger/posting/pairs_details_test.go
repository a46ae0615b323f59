package posting_test

import (
	"cmp"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// transferWrites are the requests that write transfers.
var transferWrites = []request{
	{name: "transfer", write: func(h holdings) error { return h.move(false) }},
	{name: "transfer back with tags", write: func(h holdings) error {
		return h.move(true, "Work", "New")
	}},
	{name: "transfer's amount", write: func(h holdings) error {
		return h.updateTransfer(func(r *ledgerv1.UpdateTransferRequest) { r.Amount = new("9") })
	}},
	{name: "transfer's wallet, month and tags", write: func(h holdings) error {
		return h.updateTransfer(func(r *ledgerv1.UpdateTransferRequest) {
			r.ToWalletId = new(h.unusedWallet.String())
			r.Date, r.Tags = new("2026-04-02"), &ledgerv1.Tags{Values: []string{"Trip"}}
		})
	}},
	{name: "transfer deleted", write: func(h holdings) error {
		_, err := h.transfers.DeleteTransfer(h.Ctx, &ledgerv1.DeleteTransferRequest{Id: h.transfer})
		return err
	}},
	{name: "leg's month", write: func(h holdings) error {
		return h.update(h.in, func(r *updateRequest) { r.Date = new("2026-04-03") })
	}},
	{name: "leg deleted", write: func(h holdings) error { return h.remove(h.in) }},
	{name: "match", write: func(h holdings) error {
		_, err := h.transfers.MatchTransfer(h.Ctx,
			&ledgerv1.MatchTransferRequest{OutTransactionId: h.food, InTransactionId: h.income})
		return err
	}},
	{name: "unlink", write: func(h holdings) error {
		_, err := h.transfers.UnlinkTransfer(h.Ctx, &ledgerv1.UnlinkTransferRequest{
			Id: h.transfer, CategoryId: h.Category.String(),
			InCategoryId: new(h.otherCategory.String()),
		})
		return err
	}},
}

// detailWrites are the requests that write splits, tags and attachments.
var detailWrites = []request{
	{name: "split", write: func(h holdings) error {
		return h.update(h.food, func(r *updateRequest) {
			r.Splits = &ledgerv1.Splits{Values: []*ledgerv1.Split{
				{CategoryId: h.otherCategory.String(), Amount: "3"},
				{CategoryId: h.unusedCategory.String(), Amount: "4"},
			}}
		})
	}},
	{name: "parts and wallet of a split", write: func(h holdings) error {
		return h.update(h.split, func(r *updateRequest) {
			r.WalletId, r.Amount = new(h.otherWallet.String()), new("5")
			r.Splits = &ledgerv1.Splits{Values: []*ledgerv1.Split{
				{CategoryId: h.otherCategory.String(), Amount: "1"},
				{CategoryId: h.Category.String(), Amount: "4"},
			}}
		})
	}},
	{name: "split ended", write: func(h holdings) error {
		return h.update(h.split, func(r *updateRequest) {
			r.CategoryId = new(h.otherCategory.String())
		})
	}},
	{name: "split deleted", write: func(h holdings) error { return h.remove(h.split) }},
	{name: "tag renamed", write: func(h holdings) error { return h.rename("trip", "Journey") }},
	{name: "tag merged", write: func(h holdings) error { return h.rename("trip", "work") }},
	{name: "tag deleted", write: func(h holdings) error {
		_, err := h.tags.DeleteTag(h.Ctx, &ledgerv1.DeleteTagRequest{Tag: "trip"})
		return err
	}},
	{name: "create with tags", write: func(h holdings) error {
		req := h.expense(h.Wallet, h.Category, "2026-03-20")
		req.Tags = []string{"Trip", "Journey"}
		_, err := h.CreateTransaction(h.Ctx, req)
		return err
	}},
	{name: "create with an external id", write: func(h holdings) error {
		req := h.expense(h.Wallet, h.Category, "2026-03-20")
		req.ExternalId = "bank 2"
		_, err := h.CreateTransaction(h.Ctx, req)
		return err
	}},
	{name: "tags", write: func(h holdings) error {
		return h.update(h.fun, func(r *updateRequest) {
			r.Tags = &ledgerv1.Tags{Values: []string{"Trip"}}
		})
	}},
	{
		name:  "attachment",
		write: func(h holdings) error { _, err := h.attach("second"); return err },
	},
	{name: "attachment deleted", write: func(h holdings) error {
		_, err := h.attachments.DeleteAttachment(h.Ctx,
			&ledgerv1.DeleteAttachmentRequest{Id: h.attachment})
		return err
	}, prepare: func(t require.TestingT, h *holdings) {
		resp, err := h.attach("first")
		require.NoError(t, err)
		h.attachment = resp.GetAttachment().GetId()
	}},
}

// ruleWrites are the jobs that apply a rule and undo that, and the deletion of the rule. The jobs
// change the categories and tags of all expenses.
var ruleWrites = []request{
	{name: "rule applied", write: func(h holdings) error {
		h.rules.Jobs.RunQueued(h.Ctx)
		return nil
	}, prepare: func(t require.TestingT, h *holdings) { h.applyAll(t) }},
	{name: "rule undone", write: func(h holdings) error {
		h.rules.Jobs.RunQueued(h.Ctx)
		return nil
	}, prepare: func(t require.TestingT, h *holdings) {
		if h.applied != "" {
			return
		}
		h.applyAll(t)
		h.rules.Jobs.RunQueued(h.Ctx)
		_, err := h.rules.UndoRule(h.Ctx, &ledgerv1.UndoRuleRequest{Id: h.applied})
		require.NoError(t, err)
	}},
	{name: "rule deleted", write: func(h holdings) error {
		_, err := h.rules.DeleteRule(h.Ctx,
			&ledgerv1.DeleteRuleRequest{Id: cmp.Or(h.applied, h.rule)})
		return err
	}},
}

// applyAll queues the application of a rule to all expenses. The job is queued in the preparation,
// so that the write stops in the job and not in the request.
func (h *holdings) applyAll(t require.TestingT) {
	if h.applied != "" {
		return
	}
	// The other writes change h.rule, which this job must not use: a rule that is being applied
	// cannot be changed.
	resp, err := h.rules.CreateRule(h.Ctx, &ledgerv1.CreateRuleRequest{
		Name: "All",
		Conditions: []*ledgerv1.RuleCondition{{
			Field: "type", Op: "is", Values: []string{"expense"},
		}},
		Actions: append(h.sets(h.otherCategory),
			&ledgerv1.RuleAction{Kind: "addTag", Value: "Trip"}),
	})
	require.NoError(t, err)
	h.applied = resp.GetRule().GetId()
	_, err = h.rules.ApplyRule(h.Ctx, &ledgerv1.ApplyRuleRequest{Id: h.applied})
	require.NoError(t, err)
}

// move transfers between the wallets of the holdings.
func (h holdings) move(back bool, tags ...string) error {
	from, to := h.Wallet.String(), h.otherWallet.String()
	if back {
		from, to = to, from
	}
	_, err := h.transfers.CreateTransfer(h.Ctx, &ledgerv1.CreateTransferRequest{
		FromWalletId: from, ToWalletId: to, Amount: "4", Date: "2026-03-20", Tags: tags,
	})
	return err
}

func (h holdings) updateTransfer(change func(*ledgerv1.UpdateTransferRequest)) error {
	req := &ledgerv1.UpdateTransferRequest{Id: h.transfer}
	change(req)
	_, err := h.transfers.UpdateTransfer(h.Ctx, req)
	return err
}

// rename renames a tag, and merges it if the name is that of another one.
func (h holdings) rename(tag, name string) error {
	_, err := h.tags.UpdateTag(h.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: tag, Name: &name, Merge: new(true)})
	return err
}

// attach adds a file to food.
func (h holdings) attach(content string) (*ledgerv1.CreateAttachmentResponse, error) {
	type request = ledgerv1.CreateAttachmentRequest
	stream := fixture.Upload[request, ledgerv1.CreateAttachmentResponse](h.Ctx,
		&request{
			TransactionId: h.food,
			Header:        &restv1.FileHeader{FileName: "a.txt", MediaType: "text/plain"},
		},
		&request{File: []byte(content)})
	err := h.attachments.CreateAttachment(stream)
	return stream.Response, err
}
