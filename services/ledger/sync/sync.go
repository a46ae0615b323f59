// Package sync reports to the devices of a user what changed, so that each of them can hold a copy
// of the account.
//
// Each write of an owner has a number (ADR 83). The owner's row of table owners counts the writes,
// and stays locked until the write commits (see posting.ShareOwner). A changed row stores the
// number of its last write as seq. A deleted row leaves a tombstone with a number. So the order of
// the numbers is the order of the commits: a reader that has seen everything up to a number misses
// nothing if it continues after that number. A page is read on one snapshot.
//
// It guarantees that a client that applies all pages has what the lists return, whatever was
// written meanwhile, and receives an object again only if it changed. A wallet also appears with
// each page that has transactions of it, because they change its balance. A transfer appears with
// its outgoing leg: each change of a transfer changes that leg.
//
// A row whose writer took no number has seq -1, for example after a write of a replica of the
// release before migration 0027. ListChanges numbers such rows before it reads. docs/sync.md is for
// authors of clients. The files:
//
//   - sync.go: ListChanges, positions, and the steps of a page. Start reading here
//   - entries.go: the changed objects of each list, as entries of a page
//   - store_sync.go: the statements, and Sweep, which deletes old tombstones
package sync

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	defaultLimit = 200
	maxLimit     = 1000
	// maxBytes limits the size of a page whose transactions have long texts. A message between
	// services has at most rpc.MaxMessage.
	maxBytes = 2 << 20
	// retention is the age at which tombstones are deleted. A device that was offline longer gets
	// SYNC_CURSOR_EXPIRED and starts a new copy.
	retention = 180 * 24 * time.Hour
)

var errCursorExpired = apierr.New(restv1.Reason_SYNC_CURSOR_EXPIRED)

// Server implements SyncService. Call Sweep regularly.
type Server struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeSyncServiceServer

	*posting.Ledger
	Cursors page.Cursors
}

var _ ledgerv1.SyncServiceServer = (*Server)(nil)

// position is the place in an owner's changes after which a page starts. It is the content of a
// cursor.
type position struct {
	// Seq is the number of the last entry that the client has received, and List is its list. List is
	// complete if the client has all changes up to Seq.
	Seq  int64 `json:"s"`
	List list  `json:"l"`
	// ID is the id of an object. It is empty for settings, is the key of a tag, and has the kind and
	// the id of a tombstone.
	ID string `json:"i"`
	// Start is the owner's number at the first page of a copy. The client has never received an object
	// that was deleted before, so tombstones up to this number are omitted.
	Start int64 `json:"f"`
}

// list is the list of a response to which an entry belongs. Entries with the same number are in the
// order of these constants. Cursors contain them, so a change of a value changes the meaning of the
// cursors that devices hold.
type list int

const (
	settingsList list = iota + 1
	walletList
	categoryList
	tagList
	ruleList
	transactionList
	tombstoneList
	// complete follows all entries of a number.
	complete
)

// compare orders positions by number, list and id.
func (p position) compare(o position) int {
	switch {
	case p.Seq != o.Seq:
		return int(min(max(p.Seq-o.Seq, -1), 1))
	case p.List != o.List:
		return int(p.List - o.List)
	case p.ID < o.ID:
		return -1
	case p.ID > o.ID:
		return 1
	}
	return 0
}

// in returns the place in a list after which the entries follow the position. Lists before the
// position's list have been read up to its number, so the greatest id excludes the entries of that
// number. Lists after it have not, so the smallest id includes them.
func (p position) in(l list) posting.Place {
	switch {
	case l < p.List:
		return posting.Place{Seq: p.Seq, ID: uuid.Max}
	case l > p.List:
		return posting.Place{Seq: p.Seq, ID: uuid.Nil}
	}
	id, _ := uuid.Parse(p.ID)
	return posting.Place{Seq: p.Seq, ID: id}
}

// ListChanges returns a page of the changes after a cursor. If nothing has changed, it runs a
// single statement and returns the same cursor: devices ask often, and most responses are empty.
//
// Errors: SYNC_CURSOR_EXPIRED if tombstones after the cursor have been deleted, or if the cursor is
// of a database that was replaced by an older backup. The client then starts again without a
// cursor.
func (s *Server) ListChanges(ctx context.Context, req *ledgerv1.ListChangesRequest) (*ledgerv1.ListChangesResponse, error) {
	limit, problem := parseLimit(req.Limit)
	if problem != nil {
		return nil, apierr.Validation([]apierr.Field{*problem})
	}
	owner := caller.ID(ctx)
	scope := "changes " + owner.String()
	var after position
	if req.GetCursor() != "" {
		if err := s.Cursors.Open(scope, req.GetCursor(), &after); err != nil {
			return nil, err
		}
	}
	current, err := selectState(ctx, s.DB, owner)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.ListChangesResponse{
		Changes: &ledgerv1.Changes{}, Pagination: &ledgerv1.ChangesPagination{Limit: int32(limit), NextCursor: req.GetCursor()},
	}
	if !current.Unnumbered && after.List == complete && after.Seq == current.Seq {
		return resp, nil
	}
	if current.Unnumbered {
		if err := s.number(ctx, owner); err != nil {
			return nil, err
		}
	}
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, s.DB, snapshot, func(tx pgx.Tx) error {
		end, more, err := readPage(ctx, tx, owner, after, req.GetCursor() == "", limit, resp)
		if err != nil {
			return err
		}
		resp.Pagination.HasMore = more
		resp.Pagination.NextCursor, err = s.Cursors.Seal(scope, end)
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// parseLimit returns the page size for the requested limit.
func parseLimit(asked *int32) (int, *apierr.Field) {
	switch {
	case asked == nil:
		return defaultLimit, nil
	case *asked < 1:
		return 0, &apierr.Field{Name: "limit", Message: "must be at least 1"}
	}
	return min(int(*asked), maxLimit), nil
}

// number gives the next number to the rows of an owner that have none. It commits before the page
// is read, because that transaction only reads.
func (s *Server) number(ctx context.Context, owner uuid.UUID) error {
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, owner); err != nil {
			return err
		}
		return numberRows(ctx, tx, owner)
	})
}

// entry is a changed or deleted object at its position.
type entry struct {
	position
	message proto.Message
	// wallet is the wallet of a transaction or of its tombstone.
	wallet uuid.UUID
	// transfer is the transfer whose outgoing leg the entry is, or nil.
	transfer *ledgerv1.Transfer
	// last ends the page: the list of the entry has more entries, which were not read.
	last bool
}

// size returns the size of the entry in a page, in bytes.
func (e entry) size() int { return proto.Size(e.message) + proto.Size(e.transfer) }

// readPage adds a page to resp. It returns the position at the end of the page, and whether more
// entries follow. Its statements read one snapshot, so a page never has half of a write.
func readPage(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, first bool, limit int, resp *ledgerv1.ListChangesResponse) (position, bool, error) {
	current, err := selectState(ctx, tx, owner)
	if err != nil {
		return position{}, false, err
	}
	if first {
		after.Start = current.Seq
	}
	// If the position has a higher number than the owner, the database was replaced by an older
	// backup.
	if max(after.Seq, after.Start) < current.SweptSeq || after.Seq > current.Seq {
		return position{}, false, errCursorExpired
	}
	entries, err := selectEntries(ctx, tx, owner, after, limit+1)
	if err != nil {
		return position{}, false, err
	}
	n := pageLength(entries, limit)
	if err := add(ctx, tx, owner, entries[:n], resp); err != nil {
		return position{}, false, err
	}
	end, more := position{Seq: current.Seq, List: complete}, n < len(entries) || n > 0 && entries[n-1].last
	if more {
		end = entries[n-1].position
	}
	end.Start = after.Start
	return end, more, nil
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

// selectEntries returns up to limit entries of each list after a position, in the order of
// positions. Its first limit entries are therefore the next ones of all lists. It reads up to seven
// times as many rows as a page has, but each list by its index of seq.
func selectEntries(ctx context.Context, tx pgx.Tx, owner uuid.UUID, after position, limit int) ([]entry, error) {
	var entries []entry
	for _, read := range []func(context.Context, pgx.Tx, uuid.UUID, position, int) ([]entry, error){
		settingsEntries, walletEntries, categoryEntries, tagEntries, ruleEntries, transactionEntries, tombstoneEntries,
	} {
		more, err := read(ctx, tx, owner, after, limit)
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
func add(ctx context.Context, tx pgx.Tx, owner uuid.UUID, entries []entry, resp *ledgerv1.ListChangesResponse) error {
	var touched []uuid.UUID
	has := map[string]bool{}
	for _, e := range entries {
		switch m := e.message.(type) {
		case *ledgerv1.Settings:
			resp.Changes.Settings = m
		case *ledgerv1.Wallet:
			resp.Changes.Wallets = append(resp.Changes.Wallets, m)
			has[m.GetId()] = true
		case *ledgerv1.Category:
			resp.Changes.Categories = append(resp.Changes.Categories, m)
		case *ledgerv1.FollowedTag:
			resp.Changes.Tags = append(resp.Changes.Tags, m)
		case *ledgerv1.Rule:
			resp.Changes.Rules = append(resp.Changes.Rules, m)
		case *ledgerv1.Transaction:
			resp.Changes.Transactions = append(resp.Changes.Transactions, m)
			if e.transfer != nil {
				resp.Changes.Transfers = append(resp.Changes.Transfers, e.transfer)
			}
		case *ledgerv1.Tombstone:
			resp.Deleted = append(resp.Deleted, m)
		}
		if e.wallet != uuid.Nil {
			touched = append(touched, e.wallet)
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
	wallets, err := accounts.WalletsWithIDs(ctx, tx, owner, touched)
	resp.Changes.Wallets = append(resp.Changes.Wallets, wallets...)
	return err
}
