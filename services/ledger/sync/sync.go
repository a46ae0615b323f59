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
//   - sync.go: ListChanges and positions. Start reading here
//   - page.go: the steps of a page
//   - entries.go: the changed objects of each list, as entries of a page
//   - store_sync.go: the statements, and Sweep, which deletes old tombstones
package sync

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
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
	// Seq is the number of the last entry that the client has received, and List is its list, or
	// complete if the client has all changes up to Seq.
	Seq  int64 `json:"s"`
	List list  `json:"l"`
	// ID is the id of an object. It is empty for settings, is the key of a tag, and has the kind
	// and the id of a tombstone.
	ID string `json:"i"`
	// Start is the owner's number at the first page of a copy. The client has never received an
	// object that was deleted before, so tombstones up to this number are omitted.
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

func (l list) at(seq int64, id string) position { return position{Seq: seq, List: l, ID: id} }

func (p position) compare(other position) int {
	switch {
	case p.Seq != other.Seq:
		return int(min(max(p.Seq-other.Seq, -1), 1))
	case p.List != other.List:
		return int(p.List - other.List)
	case p.ID < other.ID:
		return -1
	case p.ID > other.ID:
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
func (s *Server) ListChanges(
	ctx context.Context, req *ledgerv1.ListChangesRequest,
) (*ledgerv1.ListChangesResponse, error) {
	limit, err := parseLimit(req.Limit)
	if err != nil {
		return nil, err
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
		Changes:    &ledgerv1.Changes{},
		Pagination: &ledgerv1.ChangesPagination{Limit: int32(limit), NextCursor: req.GetCursor()},
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
		r := reader{tx: tx, owner: owner, after: after, limit: limit + 1}
		end, err := r.page(ctx, resp)
		if err != nil {
			return err
		}
		resp.Pagination.NextCursor, err = s.Cursors.Seal(scope, end)
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func parseLimit(asked *int32) (int, error) {
	switch {
	case asked == nil:
		return defaultLimit, nil
	case *asked < 1:
		return 0, apierr.Invalid("limit", "must be at least 1")
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
