// Package export streams the books of a user as files that other programs read.
//
// ExportTransactions reads one snapshot of the database (ADR 85): wallets and categories first,
// then pages of transactions, oldest first. It passes them to the encoder of the format, which
// writes to the stream. So the memory of an export does not depend on the number of transactions.
// An encoder has no access to the database and is tested without one.
//
// It guarantees that all rows are of one moment, and that amounts keep their digits. If an export
// fails, the stream ends with an error, so that a client can distinguish a partial file from a
// complete one. The files:
//
//   - export.go: the RPC, the interface of encoders, and the steps of an export. Start reading here
//   - books.go: the contents of an export without the transactions
//   - filter.go: validates the filters of a request. store_export.go: the statements
//   - csv.go, json.go: the tables. Package formats of imports reads both of them back (ADR 91)
//   - hledger.go, beancount.go: the journals of plain-text accounting. journal.go has their common
//     part, the accounts and postings
//   - owner.go: the files of the archive of an account, for the budget service (ADR 134)
package export

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// maxRunning is the maximum number of simultaneous exports of a replica. Each holds a connection of
// the pool for as long as its client receives, so they must leave most of the pool to other
// requests.
const maxRunning = 4

// Exports implements ExportService.
type Exports struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeExportServiceServer

	*posting.Ledger
	// files has the content of attachments and images that files.Store has moved there.
	files   *files.Store
	running chan struct{}
}

var _ ledgerv1.ExportServiceServer = (*Exports)(nil)

// New returns the service for the books in a ledger.
func New(book *posting.Ledger, store *files.Store) *Exports {
	return &Exports{Ledger: book, files: store, running: make(chan struct{}, maxRunning)}
}

// encoder writes an export in one format. begin is called once, then add for each transaction,
// oldest first, and finally end. An encoder may buffer its output until end. After an error, no
// further method is called.
type encoder interface {
	begin(b books) error
	add(e entry) error
	end() error
}

type format struct {
	mediaType, extension string
	encoder              func(w io.Writer, req *ledgerv1.ExportTransactionsRequest) encoder
}

var supported = map[string]format{
	"csv":       {"text/csv; charset=utf-8", "csv", newCSV},
	"json":      {"application/x-ndjson", "jsonl", newJSON},
	"hledger":   {"text/plain; charset=utf-8", "journal", newHledger},
	"beancount": {"text/plain; charset=utf-8", "beancount", newBeancount},
}

type entry struct {
	posting.Transaction
	// other is the other leg of a transfer, and nil for other transactions. otherExported is set if
	// the filters select the other leg too, so that it is also passed to the encoder.
	other         *posting.Transaction
	otherExported bool
}

// ExportTransactions streams the caller's books in a format. A user has one export at a time, on
// any replica, because its lock is in the database. If the client stops receiving, the gateway
// cancels the stream. That ends the database transaction and the lock.
//
// The header is sent after the checks, so a rejected request gets an error and not an empty file.
// The slot in running is taken before the transaction begins, because a waiting export would
// already hold a connection of the pool.
//
// Errors: UNSUPPORTED_EXPORT_FORMAT, RATE_LIMITED while another export of the user runs,
// SERVICE_UNAVAILABLE while the replica runs maxRunning exports, and the errors of the filters.
func (s *Exports) ExportTransactions(
	req *ledgerv1.ExportTransactionsRequest,
	stream grpc.ServerStreamingServer[ledgerv1.ExportTransactionsResponse],
) error {
	ctx := stream.Context()
	filter, p := parse(req)
	filter.owner = caller.ID(ctx)
	if p.Err() != nil {
		return request.CheckFilter(ctx, s.DB, p, filter.owner,
			request.Filter{Wallets: filter.wallets, Categories: filter.categories})
	}
	return s.inSnapshot(ctx, filter.owner, func(tx pgx.Tx) error {
		if err := check(ctx, tx, filter); err != nil {
			return err
		}
		var err error
		if filter.tags, err = selectTagKeys(ctx, tx, filter.tags); err != nil {
			return err
		}
		today, err := s.Today(ctx, tx, filter.owner)
		if err != nil {
			return err
		}
		chosen := supported[req.GetFormat()]
		name := "coffer-" + today.Format(time.DateOnly) + "." + chosen.extension
		header := &restv1.FileHeader{MediaType: chosen.mediaType, FileName: name}
		if err := stream.Send(&ledgerv1.ExportTransactionsResponse{Header: header}); err != nil {
			return err
		}
		w := rpc.NewFileWriter(func(piece []byte) error {
			return stream.Send(&ledgerv1.ExportTransactionsResponse{Content: piece})
		})
		if err := write(ctx, tx, filter, chosen.encoder(w, req)); err != nil {
			return err
		}
		return w.Flush()
	})
}

// inSnapshot runs do in a snapshot of the database, with the lock of the owner's exports. It
// returns errExportRunning if another export has the lock.
func (s *Exports) inSnapshot(
	ctx context.Context, owner uuid.UUID, do func(tx pgx.Tx) error,
) error {
	// A user who repeats a rejected export takes no place from others. The lock of this statement
	// ends with it; the one of the transaction lasts until the end of the export.
	if err := lock(ctx, s.DB, owner); err != nil {
		return err
	}
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	default:
		return apierr.Unavailable
	}
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.DB, snapshot, func(tx pgx.Tx) error {
		if err := lock(ctx, tx, owner); err != nil {
			return err
		}
		if err := setIdleTimeout(ctx, tx); err != nil {
			return err
		}
		return do(tx)
	})
}

func lock(ctx context.Context, q pg.Querier, owner uuid.UUID) error {
	locked, err := tryLock(ctx, q, owner)
	if err == nil && !locked {
		err = errExportRunning
	}
	return err
}

// check returns an error if a filter names a wallet or category that is unknown or belongs to
// another user.
func check(ctx context.Context, q pg.Querier, filter filter) error {
	owned, err := request.SelectOwned(ctx, q, filter.owner, filter.wallets, filter.categories)
	if err != nil {
		return err
	}
	var p apierr.Problems
	owned.CheckLists(&p, "walletId", filter.wallets, "categoryId", filter.categories)
	return p.Err()
}

// write passes the books in the snapshot of q to an encoder.
func write(ctx context.Context, q pg.Querier, chosen filter, to encoder) error {
	b, err := selectBooks(ctx, q, chosen)
	if err != nil {
		return err
	}
	if err := to.begin(b); err != nil {
		return err
	}
	if err := eachEntry(ctx, q, chosen, to.add); err != nil {
		return err
	}
	return to.end()
}

// eachEntry calls do for each transaction of a filter, oldest first.
func eachEntry(ctx context.Context, q pg.Querier, chosen filter, do func(entry) error) error {
	for {
		page, err := selectPage(ctx, q, chosen)
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := do(e); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		last := page[len(page)-1]
		chosen.after = &position{last.Date, last.ID}
	}
}
