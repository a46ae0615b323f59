package sync

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
)

type entry struct {
	position
	message proto.Message
	// wallet is the wallet of a transaction or of its tombstone.
	wallet uuid.UUID
	// transfer is the transfer whose outgoing leg the entry is, or nil.
	transfer *ledgerv1.Transfer
	// last ends the page, because more entries of its list were not read.
	last bool
}

// size returns the size of the entry in a page, in bytes.
func (e entry) size() int { return proto.Size(e.message) + proto.Size(e.transfer) }

// reader reads the changes of an owner after a position. Its statements read one snapshot, so a
// page never has half of a write.
type reader struct {
	tx    pgx.Tx
	owner uuid.UUID
	after position
	// limit is the maximum number of entries of each list: one more than a page has.
	limit int
}

// page adds a page to resp, and returns the position at its end. The zero position begins a copy.
func (r reader) page(ctx context.Context, resp *ledgerv1.ListChangesResponse) (position, error) {
	current, err := selectState(ctx, r.tx, r.owner)
	if err != nil {
		return position{}, err
	}
	after := &r.after
	if *after == (position{}) {
		after.Start = current.Seq
	}
	// If the position has a higher number than the owner, the database was replaced by an older
	// backup.
	if max(after.Seq, after.Start) < current.SweptSeq || after.Seq > current.Seq {
		return position{}, errCursorExpired
	}
	entries, err := r.entries(ctx)
	if err != nil {
		return position{}, err
	}
	n := pageLength(entries, r.limit-1)
	if err := r.add(ctx, entries[:n], resp); err != nil {
		return position{}, err
	}
	end := position{Seq: current.Seq, List: complete}
	more := n < len(entries) || n > 0 && entries[n-1].last
	if more {
		end = entries[n-1].position
	}
	resp.Pagination.HasMore = more
	end.Start = after.Start
	return end, nil
}

// pageLength returns the number of entries in a page: at most limit, and at most as many as fit
// into maxBytes, but at least one. No entry follows the last one of a list with unread entries.
func pageLength(entries []entry, limit int) int {
	size := 0
	for i, e := range entries {
		if size += e.size(); i == limit || i > 0 && size > maxBytes {
			return i
		}
		if e.last {
			return i + 1
		}
	}
	return len(entries)
}

// entries returns up to limit entries of each list, in the order of positions. Its first limit
// entries are therefore the next ones of all lists. It reads up to seven times as many rows as a
// page has, but each list by its index of seq.
func (r reader) entries(ctx context.Context) ([]entry, error) {
	var entries []entry
	for _, read := range []func(context.Context) ([]entry, error){
		r.settings, r.wallets, r.categories, r.tags, r.rules, r.transactions, r.tombstones,
	} {
		more, err := read(ctx)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	slices.SortFunc(entries, func(a, b entry) int { return a.compare(b.position) })
	return entries, nil
}

// add adds entries to the lists of a response, and also the wallets of their transactions, because
// a transaction changes the balance of its wallet and not the row of table wallets. A wallet is
// added once.
func (r reader) add(
	ctx context.Context, entries []entry, resp *ledgerv1.ListChangesResponse,
) error {
	changes := resp.GetChanges()
	var touched []uuid.UUID
	has := map[string]bool{}
	for _, entry := range entries {
		switch message := entry.message.(type) {
		case *ledgerv1.Settings:
			changes.Settings = message
		case *ledgerv1.Wallet:
			changes.Wallets = append(changes.Wallets, message)
			has[message.GetId()] = true
		case *ledgerv1.Category:
			changes.Categories = append(changes.Categories, message)
		case *ledgerv1.FollowedTag:
			changes.Tags = append(changes.Tags, message)
		case *ledgerv1.Rule:
			changes.Rules = append(changes.Rules, message)
		case *ledgerv1.Transaction:
			changes.Transactions = append(changes.Transactions, message)
			if entry.transfer != nil {
				changes.Transfers = append(changes.Transfers, entry.transfer)
			}
		case *ledgerv1.Tombstone:
			resp.Deleted = append(resp.Deleted, message)
		}
		if entry.wallet != uuid.Nil {
			touched = append(touched, entry.wallet)
		}
	}
	touched = slices.DeleteFunc(touched, func(id uuid.UUID) bool {
		known := has[id.String()]
		has[id.String()] = true
		return known
	})
	if len(touched) == 0 {
		return nil
	}
	wallets, err := accounts.WalletsWithIDs(ctx, r.tx, r.owner, touched)
	changes.Wallets = append(changes.Wallets, wallets...)
	return err
}
