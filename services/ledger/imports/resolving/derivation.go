package resolving

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/duplicates"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
)

// Derivation derives all rows of an import again, in steps that may be database transactions of
// their own: first the rows, then the rows and pairs of transfers, and then the duplicates. It
// knows the accounts, the categories, the external ids and the open transfers of the rows so far. A
// job that continues a derivation without this knowledge gains it by Replay, because each step
// depends on the contents of the file, on the user's choices and on the steps before it only. The
// search of duplicates starts again and has the same result. A derivation whose step has failed is
// of no use any more.
type Derivation struct {
	c         *resolver
	owner, id uuid.UUID
	key       staging.AccountKey
	position  Position
	// derived is set after the last row. again are the rows that must be derived once more because
	// of transfers, and pairs the sides of transfers.
	derived bool
	again   []int32
	pairs   []pairing
	search  *duplicates.Search
}

// Position is the progress of a derivation.
type Position struct {
	// Row is the number of the last row that was derived.
	Row int32
	// Amended is the number of steps after the last row: rows that were derived once more, and
	// pairs that were written.
	Amended int32
}

// Before reports whether a derivation at p has less progress than one at o.
func (p Position) Before(o Position) bool {
	return p.Row < o.Row || p.Row == o.Row && p.Amended < o.Amended
}

// All derives all rows of an import again in one database transaction. With reparse it reads the
// cells of mapped formats, because the mapping has changed. key finds the wallets that earlier
// imports assigned to accounts.
func All(
	ctx context.Context, tx pgx.Tx, key staging.AccountKey, owner, id uuid.UUID,
	details *ledgerv1.Import, reparse bool,
) error {
	d, err := Begin(ctx, tx, key, owner, id, details, reparse)
	for finished := false; err == nil && !finished; {
		finished, err = d.Step(ctx, tx, staging.PageRows)
	}
	return err
}

// Begin returns a derivation before its first row. It changes details.
func Begin(
	ctx context.Context, tx pgx.Tx, key staging.AccountKey, owner, id uuid.UUID,
	details *ledgerv1.Import, reparse bool,
) (*Derivation, error) {
	o, err := SelectOwned(ctx, tx, owner)
	if err != nil {
		return nil, err
	}
	resolver, err := loadResolver(ctx, tx, owner, details, o)
	if err != nil {
		return nil, err
	}
	resolver.rules.Limit(rules.ImportSteps)
	if resolver.otherAccounts, err = selectOtherAccounts(ctx, tx, owner, id); err != nil {
		return nil, err
	}
	if reparse && details.GetMapping() != nil {
		// A proposal may be incomplete. Then the rows stay invalid until the user has assigned the
		// columns.
		resolver.reader, err = formats.NewReader(staging.ToMapping(details.GetMapping()))
		if err != nil {
			resolver.incomplete = staging.MappingProblems(err)[0]
		}
		if resolver.uploaded, err = selectUploaded(ctx, tx, owner, id); err != nil {
			return nil, err
		}
	}
	return &Derivation{
		c: resolver, owner: owner, id: id, key: key,
		search: duplicates.NewSearch(owner, id, details.GetFormat(), nil),
	}, nil
}

// Position returns the progress of a derivation. It does not include the search of duplicates.
func (d *Derivation) Position() Position { return d.position }

// Named returns the number of accounts and categories that the rows so far have named. Until the
// end, the details have all of them.
func (d *Derivation) Named() int { return len(d.c.accounts) + len(d.c.categories) }

// Details returns the details of the import. The last step removes the accounts and categories that
// no row names.
func (d *Derivation) Details() *ledgerv1.Import { return d.c.details }

// Replay does up to limit steps towards the position of another derivation of the same details, and
// writes nothing.
func (d *Derivation) Replay(ctx context.Context, tx pgx.Tx, to Position, limit int) error {
	if d.position.Row < to.Row {
		_, err := d.next(ctx, tx, min(limit, int(to.Row-d.position.Row)))
		return err
	}
	if !d.derived {
		return d.pair(ctx, tx)
	}
	_, err := d.amend(ctx, tx, min(limit, int(to.Amended-d.position.Amended)))
	return err
}

// Step derives up to limit rows, or does as much of the rest, and reports whether it was the last
// step.
func (d *Derivation) Step(ctx context.Context, tx pgx.Tx, limit int) (finished bool, err error) {
	if !d.derived {
		rows, err := d.next(ctx, tx, limit)
		if err != nil {
			return false, err
		}
		if len(rows) == 0 {
			return false, d.pair(ctx, tx)
		}
		return false, staging.ReplaceRows(ctx, tx, d.owner, d.id, rows)
	}
	if int(d.position.Amended) < len(d.again)+len(d.pairs) {
		a, err := d.amend(ctx, tx, limit)
		if err != nil {
			return false, err
		}
		if err := staging.ReplaceRows(ctx, tx, d.owner, d.id, a.rows); err != nil {
			return false, err
		}
		return false, writePairs(ctx, tx, d.owner, d.id, a.pairs)
	}
	if finished, err = d.search.Step(ctx, tx, limit); finished {
		d.c.store()
		d.c.compare()
	}
	return finished, err
}

// pair finds the transfers in the file after the last row.
func (d *Derivation) pair(ctx context.Context, tx pgx.Tx) (err error) {
	d.again, d.pairs, err = d.c.pair(ctx, tx, d.owner, d.id)
	d.derived = true
	return err
}

// amendment holds the rows or the pairs of a step that follows the last row.
type amendment struct {
	rows  []staging.Row
	pairs []pairing
}

// amend derives the next rows in again, or returns the next pairs, without writing them.
func (d *Derivation) amend(
	ctx context.Context, tx pgx.Tx, limit int,
) (amendment amendment, err error) {
	n := int(d.position.Amended)
	if again := d.again[min(n, len(d.again)):]; len(again) > 0 {
		again = again[:min(limit, len(again))]
		d.position.Amended += int32(len(again)) //nolint:gosec // At most the rows of an import.
		d.load(ctx, tx)
		amendment.rows, err = d.c.deriveAgain(ctx, tx, d.owner, d.id, again)
		return amendment, err
	}
	pairs := d.pairs[n-len(d.again):]
	amendment.pairs = pairs[:min(limit, len(pairs))]
	//nolint:gosec // At most the rows of an import.
	d.position.Amended += int32(len(amendment.pairs))
	return amendment, nil
}

// load makes the rows of a step load the history with its transaction.
func (d *Derivation) load(ctx context.Context, tx pgx.Tx) {
	d.c.loadMemory = func() (*learning.Memory, error) { return rules.Remember(ctx, tx, d.owner) }
}

// next derives up to limit rows after the position, without writing them.
func (d *Derivation) next(ctx context.Context, tx pgx.Tx, limit int) ([]staging.Row, error) {
	d.load(ctx, tx)
	rows, err := staging.SelectRowsAfter(ctx, tx, d.owner, d.id, d.position.Row, limit)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	for i := range rows {
		d.c.read(&rows[i])
	}
	if err := d.remember(ctx, tx, rows); err != nil {
		return nil, err
	}
	named := d.Named()
	for i := range rows {
		if d.c.resolve(ctx, &rows[i]); d.c.failed != nil {
			return nil, d.c.failed
		}
		d.c.trace(rows[i])
	}
	if d.Named() > named {
		d.c.name()
	}
	d.position.Row = rows[len(rows)-1].N
	return rows, nil
}
