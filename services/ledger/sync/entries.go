package sync

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/page"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/settings"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// settingsEntries returns the settings, as the only entry, if they changed after a position.
func settingsEntries(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, _ int) ([]entry, error) {
	seqs, err := selectSettingsSeq(ctx, tx, owner, after.Seq)
	if err != nil || len(seqs) == 0 {
		return nil, err
	}
	at := position{Seq: seqs[0], List: settingsList}
	if at.compare(after) <= 0 {
		return nil, nil
	}
	s, err := settings.Select(ctx, tx, owner)
	return []entry{{position: at, message: s.Proto()}}, err
}

// walletEntries returns the wallets that changed after a position.
func walletEntries(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	changed, err := accounts.ChangedWallets(ctx, tx, owner, after.in(walletList), limit)
	entries := make([]entry, len(changed))
	for i, c := range changed {
		entries[i] = entry{position: position{Seq: c.Seq, List: walletList, ID: c.ID.String()}, message: c.Message}
	}
	return entries, err
}

// categoryEntries returns the categories that changed after a position.
func categoryEntries(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	changed, err := accounts.ChangedCategories(ctx, tx, owner, after.in(categoryList), limit)
	entries := make([]entry, len(changed))
	for i, c := range changed {
		entries[i] = entry{position: position{Seq: c.Seq, List: categoryList, ID: c.ID.String()}, message: c.Message}
	}
	return entries, err
}

// tagEntries returns the tags that changed after a position. Tags have a key instead of an id, so
// it derives the place in the list itself and does not call position.in.
func tagEntries(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	seq, key := after.Seq, ""
	switch {
	case after.List > tagList:
		seq++
	case after.List == tagList:
		key = after.ID
	}
	rows, err := selectTags(ctx, tx, owner, seq, key, limit)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(rows))
	for i, r := range rows {
		entries[i] = entry{
			position: position{Seq: r.Seq, List: tagList, ID: r.Key},
			message:  &ledgerv1.FollowedTag{Key: r.Key, Name: r.Name, Color: r.Color},
		}
	}
	return entries, nil
}

// ruleEntries returns the rules that changed after a position. It omits the progress of applying
// them to transactions: progress changes without a number, so a device would keep an old state.
func ruleEntries(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	changed, err := rules.Changed(ctx, tx, owner, after.in(ruleList), limit)
	entries := make([]entry, len(changed))
	for i, c := range changed {
		m := c.Proto()
		m.Progress = nil
		entries[i] = entry{position: position{Seq: c.Seq, List: ruleList, ID: c.ID.String()}, message: m}
	}
	return entries, err
}

// transactionEntries returns the transactions that changed after a position, with their splits and
// tags. The outgoing leg of a transfer also carries the transfer: each change of a transfer changes
// that leg, so transfers need no list of their own. It reads the splits of no more transactions
// than fit into a page.
func transactionEntries(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	ts, places, err := posting.ChangedTransactions(ctx, tx, owner, after.in(transactionList), limit)
	if err != nil {
		return nil, err
	}
	fitting := page.Fitting(ts, len(ts), posting.Transaction.Bytes)
	unread := fitting < len(ts)
	ts = ts[:fitting]
	if err := posting.AddDetails(ctx, tx, owner, ts); err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(slices.Clone(ts), func(t posting.Transaction) bool { return t.TransferID == nil || t.AmountMinor > 0 })
	moved, err := transfers.Complete(ctx, tx, owner, out)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(ts))
	for i, t := range ts {
		entries[i] = entry{
			position: position{Seq: places[i].Seq, List: transactionList, ID: t.ID.String()}, message: t.Proto(), wallet: t.WalletID,
		}
		if transfer, ok := moved[t.ID]; ok {
			entries[i].transfer = transfer.Proto()
		}
	}
	if unread {
		entries[fitting-1].last = true
	}
	return entries, nil
}

// tombstoneEntries returns the objects that were deleted after a position, and after the start of
// the copy.
func tombstoneEntries(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	var kind, id string
	seq := after.Seq
	switch {
	case after.Seq < after.Start || after.List == complete:
		seq = max(after.Seq, after.Start) + 1
	case after.List == tombstoneList:
		kind, id, _ = strings.Cut(after.ID, " ")
	}
	rows, err := selectTombstones(ctx, tx, owner, seq, kind, id, limit)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(rows))
	for i, r := range rows {
		entries[i] = entry{
			position: position{Seq: r.Seq, List: tombstoneList, ID: r.Kind + " " + r.ID},
			message:  &ledgerv1.Tombstone{Kind: r.Kind, Id: r.ID, DeletedAt: calendar.FormatTime(r.DeletedAt)},
		}
		if r.WalletID != nil {
			entries[i].wallet = *r.WalletID
		}
	}
	return entries, nil
}
