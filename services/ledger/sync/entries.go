package sync

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/page"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/settings"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// settings returns the settings, as the only entry, if they changed after the position.
func (r reader) settings(ctx context.Context) ([]entry, error) {
	seqs, err := selectSettingsSeq(ctx, r.tx, r.owner, r.after.Seq)
	if err != nil || len(seqs) == 0 {
		return nil, err
	}
	at := settingsList.at(seqs[0], "")
	if at.compare(r.after) <= 0 {
		return nil, nil
	}
	s, err := settings.Select(ctx, r.tx, r.owner)
	return []entry{{position: at, message: s.Proto()}}, err
}

func (r reader) wallets(ctx context.Context) ([]entry, error) {
	changed, err := accounts.ChangedWallets(ctx, r.tx, r.owner, r.after.in(walletList), r.limit)
	return entriesOf(walletList, changed), err
}

func (r reader) categories(ctx context.Context) ([]entry, error) {
	place := r.after.in(categoryList)
	changed, err := accounts.ChangedCategories(ctx, r.tx, r.owner, place, r.limit)
	return entriesOf(categoryList, changed), err
}

func entriesOf[M proto.Message](l list, changed []posting.Changed[M]) []entry {
	entries := make([]entry, len(changed))
	for i, c := range changed {
		entries[i] = entry{position: l.at(c.Seq, c.ID.String()), message: c.Message}
	}
	return entries
}

// tags returns the tags that changed after the position. Tags have a key instead of an id, so it
// derives the place in the list itself and does not call position.in.
func (r reader) tags(ctx context.Context) ([]entry, error) {
	seq, key := r.after.Seq, ""
	switch {
	case r.after.List > tagList:
		seq++
	case r.after.List == tagList:
		key = r.after.ID
	}
	rows, err := selectTags(ctx, r.tx, r.owner, seq, key, r.limit)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(rows))
	for i, t := range rows {
		entries[i] = entry{
			position: tagList.at(t.Seq, t.Key),
			message:  &ledgerv1.FollowedTag{Key: t.Key, Name: t.Name, Color: t.Color},
		}
	}
	return entries, nil
}

// rules returns the rules that changed after the position. It omits their applications to
// transactions: these change without a number, so a device would keep an old state.
func (r reader) rules(ctx context.Context) ([]entry, error) {
	changed, err := rules.Changed(ctx, r.tx, r.owner, r.after.in(ruleList), r.limit)
	entries := make([]entry, len(changed))
	for i, c := range changed {
		m := c.Proto()
		m.Progress, m.Application = nil, nil
		entries[i] = entry{position: ruleList.at(c.Seq, c.ID.String()), message: m}
	}
	return entries, err
}

// transactions returns the transactions that changed after the position, with their splits and
// tags. The outgoing leg of a transfer also carries the transfer: each change of a transfer changes
// that leg, so no list of transfers is necessary. It reads only the splits of transactions that
// fit into a page.
func (r reader) transactions(ctx context.Context) ([]entry, error) {
	place := r.after.in(transactionList)
	ts, places, err := posting.ChangedTransactions(ctx, r.tx, r.owner, place, r.limit)
	if err != nil {
		return nil, err
	}
	fitting := page.Fitting(ts, len(ts), posting.Transaction.Bytes)
	unread := fitting < len(ts)
	ts = ts[:fitting]
	if err := posting.AddDetails(ctx, r.tx, r.owner, ts); err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(slices.Clone(ts), func(t posting.Transaction) bool {
		return t.TransferID == nil || t.AmountMinor > 0
	})
	completed, err := transfers.Complete(ctx, r.tx, r.owner, out)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(ts))
	for i, message := range posting.Protos(ts) {
		t := &ts[i]
		entries[i] = entry{
			position: transactionList.at(places[i].Seq, message.GetId()),
			message:  message,
			wallet:   t.WalletID,
		}
		if transfer, ok := completed[t.ID]; ok {
			entries[i].transfer = transfer.Proto()
		}
	}
	if unread {
		entries[fitting-1].last = true
	}
	return entries, nil
}

// tombstones returns the objects that were deleted after the position, and after the start of the
// copy.
func (r reader) tombstones(ctx context.Context) ([]entry, error) {
	var kind, id string
	seq := r.after.Seq
	switch {
	case r.after.Seq < r.after.Start || r.after.List == complete:
		seq = max(r.after.Seq, r.after.Start) + 1
	case r.after.List == tombstoneList:
		kind, id, _ = strings.Cut(r.after.ID, " ")
	}
	rows, err := selectTombstones(ctx, r.tx, r.owner, seq, kind, id, r.limit)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(rows))
	for i, t := range rows {
		deletedAt := calendar.FormatTime(t.DeletedAt)
		entries[i] = entry{
			position: tombstoneList.at(t.Seq, t.Kind+" "+t.ID),
			message:  &ledgerv1.Tombstone{Kind: t.Kind, Id: t.ID, DeletedAt: deletedAt},
		}
		if t.WalletID != nil {
			entries[i].wallet = *t.WalletID
		}
	}
	return entries, nil
}
