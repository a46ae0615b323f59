// Package imports serves the import of files: the upload, the review, the commit and the undo.
//
// It guarantees that no file changes balances before its commit, that the same file twice creates
// nothing the second time, and that each row of a committed import is booked exactly once. This
// package has the RPC methods. Their work is in the subpackages:
//
//   - formats: the parsers of files
//   - staging: the stored import and its rows
//   - resolving: what a row becomes. duplicates: rows whose transaction exists already
//   - booking: the jobs, which update, commit, undo and delete imports
//
// The files:
//
//   - upload.go: CreateImport parses a file and stages its rows. form.go: the fields of the form.
//     repeated.go: repetitions of an upload. describe.go: the first mapping, accounts and warnings.
//     wallets.go: the wallets that earlier imports used
//   - update.go and update_rows.go: the changes of the mapping, of assignments and of rows.
//     derive.go: the derivation of all rows after a change, in the request or by a job.
//     read.go: the RPCs that read, and the profiles
//   - commit.go: CommitImport, UndoImport and DeleteImport queue a job. cancel.go: CancelImport
//     stops one. ready.go: the reasons why an import cannot be committed
//
// Start with staging/row.go: a row keeps the contents of the file, the choices of the user and the
// consequences of both in separate columns, so that each change derives the consequences again.
package imports

import (
	"context"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/internal/seal"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/imports/booking"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// maxOpen is the maximum number of imports of a user that are not committed.
	maxOpen = 10
	// maxUploads is the number of simultaneous uploads of a replica, each of another user. Most of
	// them wait for their clients.
	maxUploads = 8
	// maxWorking is the number of uploads that parse, stage or resolve rows at the same time.
	maxWorking = 2
)

// Imports implements ImportService.
type Imports struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeImportServiceServer

	*posting.Ledger
	// Jobs runs the jobs that commit, undo and delete imports.
	Jobs    *jobs.Queue
	cursors page.Cursors
	log     *slog.Logger
	uploads rpc.Gate
	// working limits the uploads that use the processor. It queues the others.
	working rpc.Gate
	// uploading holds the users with an upload in progress at this replica.
	uploading owners
	key       staging.AccountKey
	// inlineRows and maxRows are lower in tests.
	inlineRows, maxRows int32
}

var _ ledgerv1.ImportServiceServer = (*Imports)(nil)

// New returns the server of the RPCs. The jobs wait until Jobs.Run is called. secret is the secret
// that all replicas share.
func New(a *accounts.Accounts, cursors page.Cursors, secret string, log *slog.Logger) *Imports {
	key := staging.AccountKey(seal.NewKey(secret, "import accounts"))
	return &Imports{
		Ledger:    a.Ledger,
		Jobs:      booking.NewQueue(a, key, log),
		cursors:   cursors,
		log:       log,
		key:       key,
		uploads:   rpc.NewGate(maxUploads, 0, apierr.Unavailable),
		working:   rpc.NewGate(maxWorking, maxUploads, apierr.Unavailable),
		uploading: owners{open: map[string]bool{}},

		inlineRows: inlineRows, maxRows: statement.MaxRows,
	}
}

// lock locks an import of the caller whose version matches If-Match.
func lock(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string) (staging.Import, error) {
	e, err := unknown(staging.LockImport(ctx, tx, caller.ID(ctx), id))
	if err == nil && !etag.Matches(ifMatch, e.Version) {
		err = apierr.VersionMismatch
	}
	return e, err
}

// change locks an import of the caller whose version matches If-Match, and runs fn.
func (s *Imports) change(
	ctx context.Context, id uuid.UUID, ifMatch string, fn func(tx pgx.Tx, e staging.Import) error,
) error {
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		e, err := lock(ctx, tx, id, ifMatch)
		if err != nil {
			return err
		}
		return fn(tx, e)
	})
}
