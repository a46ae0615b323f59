package export

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/archive"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/attachments"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/receipts"
	"github.com/coffer-budget/coffer/services/ledger/reconciliations"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/settings"
	"github.com/coffer-budget/coffer/services/ledger/tags"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
	"github.com/coffer-budget/coffer/services/ledger/views"
)

// ownerPage is the number of rows that a statement of ExportOwner reads, except of transactions. A
// receipt or an import may have some hundred kilobytes.
const ownerPage = 50

// ExportOwner streams everything that the ledger stores about an owner, as files of the archive of
// an account. All files are of one snapshot. Rows are as the API shows them. It has the lock of the
// exports of the owner, so at most one of them runs.
//
// Errors: RATE_LIMITED while another export of the user runs, and SERVICE_UNAVAILABLE while the
// replica runs maxRunning exports.
func (s *Exports) ExportOwner(
	req *ledgerv1.ExportOwnerRequest,
	stream grpc.ServerStreamingServer[ledgerv1.ExportOwnerResponse],
) error {
	ctx := stream.Context()
	owner, ok := text.ID(req.GetOwnerId())
	if !ok {
		return apierr.Invalid("ownerId", "must be a UUID")
	}
	return s.inSnapshot(ctx, owner, func(tx pgx.Tx) error {
		to := ownerExport{
			tx: tx, owner: owner, store: s.files,
			files: archive.NewFiles(func(p *restv1.ArchivePiece) error {
				return stream.Send(&ledgerv1.ExportOwnerResponse{Piece: p})
			}),
		}
		for _, write := range []func(context.Context) error{
			to.small, to.transactions, to.transfers, to.lists, to.readable, to.attachments,
			to.images,
		} {
			if err := write(ctx); err != nil {
				return err
			}
		}
		return to.files.Flush()
	})
}

type ownerExport struct {
	tx    pgx.Tx
	owner uuid.UUID
	files *archive.Files
	store *files.Store
}

// small writes the lists with a maximum length.
func (e ownerExport) small(ctx context.Context) error {
	set, err := settings.Select(ctx, e.tx, e.owner)
	if err != nil {
		return err
	}
	err = archive.Rows(e.files, "settings.json", []*ledgerv1.Settings{set.Proto()})
	if err != nil {
		return err
	}
	books, err := selectBooks(ctx, e.tx, filter{owner: e.owner})
	if err != nil {
		return err
	}
	var wallets []*ledgerv1.Wallet
	for _, w := range books.wallets {
		wallets = append(wallets, w.shown)
	}
	if err := archive.Rows(e.files, "wallets.jsonl", wallets); err != nil {
		return err
	}
	var categories []*ledgerv1.Category
	for _, c := range books.categories {
		categories = append(categories, c.shown)
	}
	if err := archive.Rows(e.files, "categories.jsonl", categories); err != nil {
		return err
	}
	labels, err := tags.All(ctx, e.tx, e.owner)
	if err != nil {
		return err
	}
	if err := archive.Rows(e.files, "tags.jsonl", labels); err != nil {
		return err
	}
	ruling, err := rules.All(ctx, e.tx, e.owner)
	if err != nil {
		return err
	}
	if err := archive.Rows(e.files, "rules.jsonl", ruling); err != nil {
		return err
	}
	saved, err := views.All(ctx, e.tx, e.owner)
	if err != nil {
		return err
	}
	return archive.Rows(e.files, "views.jsonl", saved)
}

func (e ownerExport) transactions(ctx context.Context) error {
	if err := e.files.Begin("transactions.jsonl"); err != nil {
		return err
	}
	return eachEntry(ctx, e.tx, filter{owner: e.owner}, func(t entry) error {
		return e.files.Row(t.Proto())
	})
}

func (e ownerExport) transfers(ctx context.Context) error {
	if err := e.files.Begin("transfers.jsonl"); err != nil {
		return err
	}
	return eachEntry(ctx, e.tx, filter{owner: e.owner}, func(t entry) error {
		if t.other == nil || t.AmountMinor > 0 {
			return nil
		}
		return e.files.Row(transfers.Of(t.Transaction, *t.other).Proto())
	})
}

// lists writes the lists that are read in pages.
func (e ownerExport) lists(ctx context.Context) error {
	err := archive.Pages(e.files, "receipts.jsonl",
		func(before uuid.UUID) ([]receipts.Exported, error) {
			return receipts.Page(ctx, e.tx, e.owner, before, ownerPage)
		}, receipts.Exported.Message)
	if err != nil {
		return err
	}
	err = archive.Pages(e.files, "reconciliations.jsonl",
		func(before uuid.UUID) ([]reconciliations.Exported, error) {
			return reconciliations.Page(ctx, e.tx, e.owner, before, ownerPage)
		}, reconciliations.Exported.Message)
	if err != nil {
		return err
	}
	err = archive.Pages(e.files, "attachments.jsonl", e.attachmentsBefore(ctx),
		func(a attachments.Exported) (uuid.UUID, proto.Message, error) {
			return a.ID, a.Proto(), nil
		})
	if err != nil {
		return err
	}
	err = archive.Pages(e.files, "imports.jsonl",
		func(before uuid.UUID) ([]staging.Import, error) {
			return staging.SelectImports(ctx, e.tx, e.owner, before, ownerPage)
		},
		func(i staging.Import) (uuid.UUID, proto.Message, error) {
			m, err := i.Proto()
			return i.ID, m, err
		})
	if err != nil {
		return err
	}
	profiles, err := staging.SelectProfiles(ctx, e.tx, e.owner)
	if err != nil {
		return err
	}
	if err := e.files.Begin("import-profiles.jsonl"); err != nil {
		return err
	}
	for _, p := range profiles {
		m, err := p.Proto()
		if err != nil {
			return err
		}
		if err := e.files.Row(m); err != nil {
			return err
		}
	}
	return nil
}

// readable writes the books in the formats that other programs read.
func (e ownerExport) readable(ctx context.Context) error {
	whole := &ledgerv1.ExportTransactionsRequest{}
	if err := e.files.Begin("transactions.csv"); err != nil {
		return err
	}
	if err := write(ctx, e.tx, filter{owner: e.owner}, newCSV(e.files, whole)); err != nil {
		return err
	}
	if err := e.files.Begin("coffer.journal"); err != nil {
		return err
	}
	return write(ctx, e.tx, filter{owner: e.owner}, newHledger(e.files, whole))
}

func (e ownerExport) attachmentsBefore(
	ctx context.Context,
) func(before uuid.UUID) ([]attachments.Exported, error) {
	return func(before uuid.UUID) ([]attachments.Exported, error) {
		return attachments.Page(ctx, e.tx, e.owner, before, ownerPage)
	}
}

func (e ownerExport) attachments(ctx context.Context) error {
	for before := uuid.Max; ; {
		page, err := e.attachmentsBefore(ctx)(before)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, a := range page {
			if err := e.files.Begin(a.Path()); err != nil {
				return err
			}
			if err := a.Copy(ctx, e.tx, e.store, e.files); err != nil {
				return err
			}
			before = a.ID
		}
	}
}

func (e ownerExport) images(ctx context.Context) error {
	for after := (receipts.Image{}); ; {
		page, err := receipts.Images(ctx, e.tx, e.owner, after, ownerPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, image := range page {
			content, err := image.Content(ctx, e.tx, e.owner, e.store)
			if err != nil {
				return err
			}
			if err := e.files.Begin(image.Path()); err != nil {
				return err
			}
			if _, err := e.files.Write(content); err != nil {
				return err
			}
			after = image
		}
	}
}
