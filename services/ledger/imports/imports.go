// Package imports serves the import of files: the upload, the review, the commit and the undo.
//
// It guarantees that no file changes balances before its commit, that the same file twice creates nothing the second time, and that each
// row of a committed import is booked exactly once, even if replicas are killed or two of them commit. The files:
//
//   - upload.go: CreateImport parses a file, with package formats, and stages its rows in table import_rows. form.go: the fields of
//     the form. describe.go: the first mapping, accounts and warnings
//   - resolve.go: derives what a row becomes. It runs after the upload and after each change. accounts.go, categorize.go and pairs.go:
//     its wallet, its category and the other side of its transfer. rules.go: what the rules and the earlier transactions of the owner
//     suggest
//   - duplicates.go: finds rows whose transaction exists already
//   - update.go and update_rows.go: the changes of the mapping, of assignments and of rows. read.go and delete.go: the other RPCs
//   - jobs.go: CommitImport and UndoImport, and the worker that runs both. A job is a lease on a row of imports
//   - commit.go: creates the wallets and categories before the first chunk. book.go: the chunks of a commit, one database transaction
//     each. transaction.go: the transactions of a row. undo.go: the chunks of an undo
//   - proto.go: conversion between rows and messages
//
// Start with resolve.go: a row keeps what the file says, what the user chose and what follows from both in separate columns, so that
// each change derives the last again.
package imports

import (
	"crypto/hmac"
	"crypto/sha256"
	"log/slog"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/internal/seal"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// maxOpen is the maximum number of imports of a user that are not committed.
	maxOpen = 10
	// maxUploads is the number of simultaneous uploads of a replica. Each parses and stages a file of up to 64 MiB.
	maxUploads = 2
	// pageRows is the number of rows that are staged or derived together.
	pageRows = 1000
)

// Imports implements ImportService.
type Imports struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeImportServiceServer

	*posting.Ledger
	accounts *accounts.Accounts
	cursors  page.Cursors
	log      *slog.Logger
	uploads  rpc.Gate
	// uploading holds the users with an upload in progress at this replica.
	uploading owners
	// key authenticates account numbers, which are stored as HMACs.
	key seal.Key
	// leaseTime is shorter in tests.
	leaseTime time.Duration
	// queued wakes the worker when a job was queued at this replica.
	queued chan struct{}
}

var _ ledgerv1.ImportServiceServer = (*Imports)(nil)

// New returns the server of the RPCs. The jobs wait until Run is called. secret is the secret that all replicas share.
func New(a *accounts.Accounts, cursors page.Cursors, secret string, log *slog.Logger) *Imports {
	return &Imports{
		Ledger: a.Ledger, accounts: a, cursors: cursors, log: log, key: seal.NewKey(secret, "import accounts"),
		uploads: rpc.NewGate(maxUploads, 0, apierr.Unavailable), uploading: owners{open: map[string]bool{}}, leaseTime: leaseTime,
		queued: make(chan struct{}, 1),
	}
}

// mac returns the HMAC of an account number.
func (s *Imports) mac(account string) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write([]byte(account))
	return h.Sum(nil)
}
