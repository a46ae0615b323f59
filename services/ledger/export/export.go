// Package export streams the books of a user as files that other programs read.
//
// ExportTransactions reads one snapshot of the database: wallets and categories first, then pages of transactions, oldest first. It
// passes them to the encoder of the format, which writes to the stream. There is a file per format. An encoder has no access to the
// database and is tested without one.
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
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// maxRunning is the maximum number of simultaneous exports of a replica. Each holds a connection of the pool for as long as its client
// receives, so they must leave most of the pool to other requests.
const maxRunning = 4

// Exports implements ExportService.
type Exports struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeExportServiceServer

	*posting.Ledger
	// running has an element per running export.
	running chan struct{}
}

var _ ledgerv1.ExportServiceServer = (*Exports)(nil)

// New returns the service for the books in a ledger.
func New(book *posting.Ledger) *Exports {
	return &Exports{Ledger: book, running: make(chan struct{}, maxRunning)}
}

// encoder writes an export in one format. begin is called once, and then add for each transaction, oldest first. Encoders may buffer
// until end.
type encoder interface {
	begin(b books) error
	add(e entry) error
	end() error
}

// format describes the files of a format.
type format struct {
	mediaType, extension string
	encoder              func(w io.Writer, req *ledgerv1.ExportTransactionsRequest) encoder
}

// supported are the formats by the value of the parameter format.
var supported = map[string]format{
	"csv":       {"text/csv; charset=utf-8", "csv", newCSV},
	"json":      {"application/x-ndjson", "jsonl", newJSON},
	"hledger":   {"text/plain; charset=utf-8", "journal", newHledger},
	"beancount": {"text/plain; charset=utf-8", "beancount", newBeancount},
}

// books are what an export contains beside the transactions.
type books struct {
	// wallets and categories are in the order of their creation.
	wallets    []wallet
	categories []category
	// whole is set if no filter but the wallets excludes transactions before the last one, so that the opening balances and the
	// transactions add up to a balance.
	whole bool
}

// wallet is a wallet of the owner.
type wallet struct {
	walletRow
	// shown is the wallet as the API shows it.
	shown *ledgerv1.Wallet
}

// category is a category of the owner.
type category struct {
	ID   uuid.UUID
	Name string
	// shown is the category as the API shows it.
	shown *ledgerv1.Category
}

// entry is an exported transaction.
type entry struct {
	posting.Transaction
	// other is the other leg of a transfer, if it exists. otherExported is set if it is an entry of its own.
	other         *posting.Transaction
	otherExported bool
}

// ExportTransactions streams the caller's books in a format. The export of another replica counts, too: the lock of the export is in
// the database. If the client stops receiving, the gateway cancels the stream, which ends the database transaction.
func (s *Exports) ExportTransactions(req *ledgerv1.ExportTransactionsRequest, stream grpc.ServerStreamingServer[ledgerv1.ExportTransactionsResponse]) error {
	ctx := stream.Context()
	f, err := parse(req)
	if err != nil {
		return err
	}
	f.owner = caller.Owner(ctx)
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	default:
		return apierr.Unavailable
	}
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.DB, snapshot, func(tx pgx.Tx) error {
		if err := s.check(ctx, tx, f); err != nil {
			return err
		}
		if f.tags, err = selectTagKeys(ctx, tx, f.tags); err != nil {
			return err
		}
		chosen := supported[req.GetFormat()]
		name := "coffer-" + s.Now().UTC().Format(time.DateOnly) + "." + chosen.extension
		header := &restv1.FileHeader{MediaType: chosen.mediaType, FileName: name}
		if err := stream.Send(&ledgerv1.ExportTransactionsResponse{Header: header}); err != nil {
			return err
		}
		w := rpc.NewFileWriter(func(piece []byte) error { return stream.Send(&ledgerv1.ExportTransactionsResponse{Content: piece}) })
		if err := write(ctx, tx, f, chosen.encoder(w, req)); err != nil {
			return err
		}
		return w.Flush()
	})
}

// check returns an error if another export of the owner is running, or if a filter names a wallet or category of nobody or of another
// user. The lock of the export ends with tx.
func (s *Exports) check(ctx context.Context, tx pgx.Tx, f filter) error {
	locked, err := tryLock(ctx, tx, f.owner)
	if err != nil {
		return err
	}
	if !locked {
		return errExportRunning
	}
	owned, err := request.SelectOwned(ctx, tx, f.owner, f.wallets, f.categories)
	if err != nil {
		return err
	}
	var p apierr.Problems
	owned.CheckLists(&p, "walletId", f.wallets, "categoryId", f.categories)
	return p.Err()
}

// write passes the books in the snapshot of q to an encoder.
func write(ctx context.Context, q pg.Querier, f filter, to encoder) error {
	b, err := selectBooks(ctx, q, f)
	if err != nil {
		return err
	}
	if err := to.begin(b); err != nil {
		return err
	}
	for {
		page, err := selectPage(ctx, q, f)
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := to.add(e); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return to.end()
		}
		last := page[len(page)-1]
		f.after = &position{last.Date, last.ID}
	}
}

// selectBooks returns what an export contains beside the transactions.
func selectBooks(ctx context.Context, q pg.Querier, f filter) (books, error) {
	b := books{whole: f.from == nil && len(f.categories) == 0 && len(f.tags) == 0}
	rows, err := selectWallets(ctx, q, f)
	if err != nil {
		return books{}, err
	}
	shown, err := accounts.AllWallets(ctx, q, f.owner)
	if err != nil {
		return books{}, err
	}
	for _, w := range rows {
		b.wallets = append(b.wallets, wallet{walletRow: w, shown: shown[w.ID]})
	}
	all, err := accounts.AllCategories(ctx, q, f.owner)
	if err != nil {
		return books{}, err
	}
	for _, c := range all {
		b.categories = append(b.categories, category{ID: uuid.MustParse(c.GetId()), Name: c.GetName(), shown: c})
	}
	return b, nil
}
