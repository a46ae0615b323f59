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
// their own: first the rows, then the pairs of transfers, and then the duplicates. It knows the
// accounts, the categories, the external ids and the open transfers of the rows so far. A job that
// continues a derivation without this knowledge gains it by Replay. A derivation whose step has
// failed is of no use any more.
type Derivation struct {
	c         *resolver
	owner, id uuid.UUID
	key       staging.AccountKey
	// position is the number of the last row that was derived.
	position int32
	// derived is set after the last row. again are the rows that must be derived once more because
	// of transfers, and pairs the sides of transfers, both as far as they are not written yet.
	derived bool
	again   []int32
	pairs   []pairing
	// amended is set if there are rows in again, which a replay of the rows would not show.
	amended bool
	search  *duplicates.Search
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
	c, err := loadResolver(ctx, tx, owner, details, o)
	if err != nil {
		return nil, err
	}
	c.rules.Limit(rules.ImportSteps)
	if c.otherAccounts, err = selectOtherAccounts(ctx, tx, owner, id); err != nil {
		return nil, err
	}
	if reparse && details.GetMapping() != nil {
		// A proposal may be incomplete. Then the rows stay invalid until the user has assigned the
		// columns.
		if c.reader, err = formats.NewReader(staging.ToMapping(details.GetMapping())); err != nil {
			c.incomplete = staging.MappingProblems(err)[0]
		}
	}
	return &Derivation{
		c: c, owner: owner, id: id, key: key,
		search: duplicates.NewSearch(owner, id, details.GetFormat(), nil),
	}, nil
}

// Position returns the number of the last row that was derived.
func (d *Derivation) Position() int32 { return d.position }

// Amended reports whether the rows of transfers are derived once more. Then a Replay of the rows
// would not show what this derivation knows, and another one must derive all rows.
func (d *Derivation) Amended() bool { return d.amended }

// Named returns the number of accounts and categories that the rows so far have named. Until the
// end, the details have all of them.
func (d *Derivation) Named() int { return len(d.c.accounts) + len(d.c.categories) }

// Details returns the details of the import. The last step removes the accounts and categories that
// no row names.
func (d *Derivation) Details() *ledgerv1.Import { return d.c.details }

// Replay reads up to limit rows that another derivation of the same details has derived, and writes
// nothing.
func (d *Derivation) Replay(ctx context.Context, tx pgx.Tx, limit int) error {
	_, err := d.next(ctx, tx, limit)
	return err
}

// Step derives up to limit rows, or does as much of the rest, and reports whether it was the last
// step.
func (d *Derivation) Step(ctx context.Context, tx pgx.Tx, limit int) (finished bool, err error) {
	switch {
	case !d.derived:
		rows, err := d.next(ctx, tx, limit)
		if err != nil {
			return false, err
		}
		if d.derived = len(rows) == 0; d.derived {
			d.again, d.pairs, err = d.c.pair(ctx, tx, d.owner, d.id)
			d.amended = len(d.again) > 0
			return false, err
		}
		return false, staging.ReplaceRows(ctx, tx, d.owner, d.id, rows)
	case len(d.again) > 0:
		n := min(len(d.again), limit)
		d.load(ctx, tx)
		err := d.c.deriveAgain(ctx, tx, d.owner, d.id, d.again[:n])
		d.again = d.again[n:]
		return false, err
	case len(d.pairs) > 0:
		n := min(len(d.pairs), limit)
		err := writePairs(ctx, tx, d.owner, d.id, d.pairs[:n])
		d.pairs = d.pairs[n:]
		return false, err
	}
	if finished, err = d.search.Step(ctx, tx, limit); finished {
		d.c.store()
		d.c.compare()
	}
	return finished, err
}

// load makes the rows of a step load the history with its transaction.
func (d *Derivation) load(ctx context.Context, tx pgx.Tx) {
	d.c.loadMemory = func() (*learning.Memory, error) { return rules.Remember(ctx, tx, d.owner) }
}

// next derives up to limit rows after the position, without writing them.
func (d *Derivation) next(ctx context.Context, tx pgx.Tx, limit int) ([]staging.Row, error) {
	d.load(ctx, tx)
	rows, err := staging.SelectRowsAfter(ctx, tx, d.owner, d.id, d.position, limit)
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
	}
	if d.Named() > named {
		d.c.name()
	}
	d.position = rows[len(rows)-1].N
	return rows, nil
}
