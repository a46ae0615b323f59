package imports

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/duplicates"
	"github.com/coffer-budget/coffer/services/ledger/imports/resolving"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// maxRowBytes limits the size of the rows in a response. A message between services has at most
// rpc.MaxMessage.
const maxRowBytes = 6 << 20

// maxRowChanges is the maximum number of rows in one UpdateImportRows. A client changes more rows
// with several requests.
const maxRowChanges = 500

// UpdateImportRows changes rows of an import in preview, or rows that a failed commit has not
// finished, all or none, and returns the rows with the consequences. Errors: IMPORT_STATE,
// TRANSACTION_NOT_FOUND for a match with an unknown transaction, and the errors of wallets and
// categories.
func (s *Imports) UpdateImportRows(
	ctx context.Context, req *ledgerv1.UpdateImportRowsRequest,
) (*ledgerv1.UpdateImportRowsResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	if n := len(req.GetRows()); n == 0 || n > maxRowChanges {
		return nil, apierr.Invalid("rows", fmt.Sprintf("must be 1 to %d rows", maxRowChanges))
	}
	resp := &ledgerv1.UpdateImportRowsResponse{}
	var update update
	err := s.change(ctx, id, req.GetIfMatch(), func(tx pgx.Tx, e staging.Import) error {
		if err := s.replaceRestoring(ctx, tx, &e, true); err != nil {
			return err
		}
		if e.Status != staging.Preview && e.Status != staging.Failed {
			return errState
		}
		rows, err := s.changeRows(ctx, tx, e, &update, req.GetRows())
		resp.Rows = staging.RowProtos(rows)
		return err
	})
	if err != nil {
		return nil, err
	}
	if update.started {
		s.Jobs.Wake()
	}
	resp.Etag = etag.Format(update.Version)
	resp.Import, err = update.Proto()
	return resp, err
}

// changeRows applies changes to rows and derives these again. It derives all rows if one of them is
// a side of a transfer, because the other side depends on it, or if the rows are not derived with
// the details. It returns the rows. update gets the import; if its job is started, the rows are not
// derived yet.
func (s *Imports) changeRows(
	ctx context.Context, tx pgx.Tx, imp staging.Import, update *update,
	changes []*ledgerv1.ImportRowChange,
) ([]staging.Row, error) {
	ns := make([]int32, len(changes))
	for i, c := range changes {
		ns[i] = c.GetN()
	}
	rows, err := staging.SelectNumbered(ctx, tx, imp.OwnerID, imp.ID, ns)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, r := range rows {
		size += r.Bytes()
	}
	if size > maxRowBytes {
		return nil, apierr.Invalid("rows", "must be fewer: they have more than 6 MiB")
	}
	owned, err := resolving.SelectOwned(ctx, tx, imp.OwnerID)
	if err != nil {
		return nil, err
	}
	before := slices.Clone(rows)
	paired, err := chooseRows(ctx, tx, imp, owned, rows, changes)
	if err != nil {
		return nil, err
	}
	if paired = paired || imp.Underived; paired {
		*update, err = s.deriveChosen(ctx, tx, imp, rows)
	} else {
		err = resolving.Rows(ctx, tx, imp, owned, rows, before)
	}
	if err != nil {
		return nil, err
	}
	if rows, err = staging.SelectNumbered(ctx, tx, imp.OwnerID, imp.ID, ns); err != nil || paired {
		return rows, err
	}
	added := staging.Tally(rows).Minus(staging.Tally(before))
	update.Import, err = staging.AddCounts(ctx, tx, imp, added, s.Now())
	return rows, err
}

// deriveChosen writes changed rows, and derives all rows of their import.
func (s *Imports) deriveChosen(
	ctx context.Context, tx pgx.Tx, imp staging.Import, rows []staging.Row,
) (update, error) {
	details, err := imp.ReadDetails()
	if err != nil {
		return update{}, err
	}
	if err := staging.ReplaceRows(ctx, tx, imp.OwnerID, imp.ID, rows); err != nil {
		return update{}, err
	}
	return s.derive(ctx, tx, imp, details, false)
}

// chooseRows stores the user's choices in rows. paired reports whether one of them is a side of a
// transfer in the file.
func chooseRows(
	ctx context.Context, tx pgx.Tx, imp staging.Import, o resolving.Owned, rows []staging.Row,
	changes []*ledgerv1.ImportRowChange,
) (paired bool, err error) {
	var problems apierr.Problems
	check := references{&problems, o}
	taken, err := takenByOthers(ctx, tx, imp, rows, changes)
	if err != nil {
		return false, err
	}
	for i, change := range changes {
		at := fmt.Sprintf("rows[%d].", i)
		j := slices.IndexFunc(rows, func(r staging.Row) bool { return r.N == change.GetN() })
		// The change of an unknown row is only validated.
		row := &staging.Row{}
		switch {
		case j < 0:
			problems.Invalid(at+"n", "is no row of the import")
		case rows[j].TransactionID != nil:
			problems.Invalid(at+"n", "is a row that the commit has finished")
		default:
			row = &rows[j]
		}
		paired = paired || row.PairN != nil || row.Transfer != nil && row.Transfer.Paired
		check.wallet(at+"transferWalletId", change.GetTransferWalletId())
		check.category(at+"categoryId", change.GetCategoryId())
		// A category and the other wallet of a transfer exclude each other, so the last choice
		// replaces the other one.
		if change.CategoryId != nil {
			row.ChosenCategoryID, row.ChosenWalletID = staging.ParseID(change.GetCategoryId()), nil
		}
		if change.TransferWalletId != nil {
			row.ChosenWalletID = staging.ParseID(change.GetTransferWalletId())
		}
		if change.Description != nil {
			description, problem := text.Description(at+"description", change.GetDescription())
			problems.Field(problem)
			row.ChosenDescription = &description
		}
		if change.Payee != nil {
			payee, problem := text.Payee(at+"payee", change.GetPayee())
			problems.Field(problem)
			row.ChosenPayee = &payee
		}
		if change.Action != nil {
			if err := act(ctx, tx, row, imp, &problems, at, change.GetAction()); err != nil {
				return false, err
			}
			if row.Action == staging.ActionMatch && row.DuplicateOf != nil {
				if taken[*row.DuplicateOf] {
					problems.Add(errTransactionNotFound.With(at+"action", taking))
				}
				taken[*row.DuplicateOf] = true
			}
		}
	}
	return paired, problems.Err()
}

// taking is the problem of a match with a transaction that the row cannot have.
const taking = "names an unknown transaction, or one of another row of the import"

// takenByOthers returns the transactions that rows of an import match, except those of the given
// rows. Two rows with one transaction would lose a payment. It reads nothing if no change is a
// match.
func takenByOthers(
	ctx context.Context, tx pgx.Tx, imp staging.Import, rows []staging.Row,
	changes []*ledgerv1.ImportRowChange,
) (map[uuid.UUID]bool, error) {
	if !slices.ContainsFunc(changes, func(c *ledgerv1.ImportRowChange) bool {
		return strings.HasPrefix(c.GetAction(), staging.ActionMatch+":")
	}) {
		return map[uuid.UUID]bool{}, nil
	}
	taken, err := duplicates.SelectTaken(ctx, tx, imp.OwnerID, imp.ID)
	for _, r := range rows {
		if r.Status == staging.Matched && r.DuplicateOf != nil {
			delete(taken, *r.DuplicateOf)
		}
	}
	return taken, err
}

// act stores the action of a row. "auto" removes the user's choice. "match:<id>" states that a
// transaction is the same payment; the transaction of another row of the import cannot be chosen.
func act(
	ctx context.Context, tx pgx.Tx, row *staging.Row, imp staging.Import, problems *apierr.Problems,
	at, action string,
) error {
	name, transaction, _ := strings.Cut(action, ":")
	id, ok := text.ID(transaction)
	if name == "auto" {
		name = ""
	}
	valid := name == staging.ActionMatch && ok || transaction == "" &&
		(name == "" && action != "" || name == staging.ActionBook || name == staging.ActionSkip)
	if !valid {
		problems.Invalid(at+"action", "must be auto, book, skip or match:<transaction id>")
		return nil
	}
	row.Action, row.DuplicateOf, row.Replaced = name, nil, nil
	if name != staging.ActionMatch {
		return nil
	}
	t, err := duplicates.SelectMatchable(ctx, tx, imp.OwnerID, imp.ID, id)
	if errors.Is(err, pgx.ErrNoRows) {
		problems.Add(errTransactionNotFound.With(at+"action",
			taking))
		return nil
	}
	row.DuplicateOf, row.Replaced = &id, t.Replaces(*row)
	return err
}
