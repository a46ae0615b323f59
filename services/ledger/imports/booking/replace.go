package booking

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// replace gives the transactions of pending payments the amounts, days and external ids of the rows
// that book them, and the payee and notes if they have none. The category and what the user has
// written stay. A row whose transaction cannot be replaced any more is booked, or linked to it if
// the user has stated that both are one payment.
func (c *chunk) replace(ctx context.Context, tx pgx.Tx, ledger *posting.Ledger) error {
	rows := map[uuid.UUID]*staging.Row{}
	var ids []uuid.UUID
	for i := range c.rows {
		r := &c.rows[i]
		if r.Status == staging.Matched && r.TransactionID == nil && r.Replaced != nil {
			rows[deref(r.DuplicateOf)], ids = r, append(ids, deref(r.DuplicateOf))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	locked, err := lockPending(ctx, tx, c.OwnerID, ids)
	if err != nil {
		return err
	}
	taken, err := c.taken(ctx, tx, locked, rows)
	if err != nil {
		return err
	}
	var before, after []posting.Transaction
	for i, t := range locked {
		if r := rows[t.ID]; !taken[i] && replaces(r, t) {
			before, after = append(before, t), append(after, c.replaced(t, r))
		}
	}
	for _, r := range rows {
		if r.TransactionID != nil {
			continue
		}
		if r.Replaced = nil; r.Action != staging.ActionMatch {
			r.Status, r.DuplicateOf = staging.Ready, nil
		}
	}
	return update(ctx, tx, ledger, before, after)
}

// replaced returns a transaction after its replacement by a row, which records the former values:
// they may have changed since the preview.
func (c *chunk) replaced(transaction posting.Transaction, row *staging.Row) posting.Transaction {
	row.TransactionID = &transaction.ID
	row.Replaced = &staging.Replaced{
		AmountMinor: transaction.AmountMinor, Date: transaction.Date,
		ExternalID: *transaction.ExternalID,
	}
	transaction.ExternalID = &row.ExternalID
	row.FilledCleared = row.Clears() && !transaction.Cleared
	transaction.Cleared = transaction.Cleared || row.Clears()
	if !isFixed(transaction) {
		transaction.AmountMinor, transaction.Date = *row.AmountMinor, row.Date.UTC()
	}
	if transaction.Payee == "" && row.BookedPayee() != "" {
		transaction.Payee = row.BookedPayee()
		row.FilledPayee = &transaction.Payee
	}
	if transaction.Notes == "" && row.BookedNotes() != "" {
		transaction.Notes = row.BookedNotes()
		row.FilledNotes = &transaction.Notes
	}
	transaction.Version++
	transaction.UpdatedAt = c.now
	return transaction
}

// replaces reports whether a row still books the payment of a transaction. Since the preview, the
// user may have changed its wallet, its currency or its direction, or an amount that must stay.
func replaces(r *staging.Row, t posting.Transaction) bool {
	amount := *r.AmountMinor
	return deref(r.WalletID) == t.WalletID && r.BookedCurrency == t.Currency &&
		(amount < 0) == (t.AmountMinor < 0) && (!isFixed(t) || amount == t.AmountMinor)
}

// isFixed reports whether the amount and the day of a transaction belong to something else: the
// parts of a split, the other leg of a transfer, or a reconciliation.
func isFixed(t posting.Transaction) bool {
	return t.TransferID != nil || t.SplitCount > 0 || t.ReconciliationID != nil
}

// taken reports for each of ts whether another transaction of its wallet has the external id of its
// row: another import has booked the payment since the preview.
func (c *chunk) taken(
	ctx context.Context, tx pgx.Tx, ts []posting.Transaction, rows map[uuid.UUID]*staging.Row,
) (map[int]bool, error) {
	externals := make([]*string, len(ts))
	for i, t := range ts {
		externals[i] = &rows[t.ID].ExternalID
	}
	return takenExternal(ctx, tx, c.OwnerID, ts, externals)
}

// takenExternal reports for each of ts whether its wallet has a transaction with the external id at
// the same index, or gets it at an earlier index. Two accounts of a file whose banks use the same
// ids may belong to one wallet.
func takenExternal(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, ts []posting.Transaction, externals []*string,
) (map[int]bool, error) {
	wallets := make([]uuid.UUID, len(ts))
	for i, t := range ts {
		wallets[i] = t.WalletID
	}
	found, err := posting.SelectExternal(ctx, tx, owner, wallets, externals)
	taken := map[int]bool{}
	for _, t := range found {
		taken[t.Position-1] = true
	}
	type key struct {
		wallet uuid.UUID
		id     string
	}
	seen := map[key]bool{}
	for i, t := range ts {
		k := key{t.WalletID, *externals[i]}
		taken[i], seen[k] = taken[i] || seen[k], true
	}
	return taken, err
}

// update writes changed transactions with their external ids, corrects balances and totals, and
// adds the events.
func update(
	ctx context.Context, tx pgx.Tx, ledger *posting.Ledger, before, after []posting.Transaction,
) error {
	if len(after) == 0 {
		return nil
	}
	if err := posting.AddDetails(ctx, tx, after[0].OwnerID, after); err != nil {
		return err
	}
	for i, t := range after {
		before[i].Splits, before[i].TagNames = t.Splits, t.TagNames
	}
	if err := posting.Update(ctx, tx, after...); err != nil {
		return posting.ClientError(err)
	}
	if err := setExternalIDs(ctx, tx, after); err != nil {
		return err
	}
	if err := ledger.PublishUpdates(ctx, tx, before, after); err != nil {
		return err
	}
	return posting.Replace(ctx, tx, before, after)
}

// unlink releases the next matched rows: it takes back what they gave to their transactions. It
// returns the number of rows.
func (x *executor) unlink(
	ctx context.Context, tx pgx.Tx, imp staging.Import, limit int,
) (int32, error) {
	n, err := unlinkTransactions(ctx, tx, imp.OwnerID, imp.ID, limit, x.Now())
	if err != nil || n > 0 {
		return n, err
	}
	rows, err := releaseReplaced(ctx, tx, imp.OwnerID, imp.ID, limit)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return int32(len(rows)), x.restore(ctx, tx, imp, rows) //nolint:gosec // At most limit.
}

// restore gives the transactions of pending payments the values before their replacement back,
// except those that the user has changed since.
func (x *executor) restore(
	ctx context.Context, tx pgx.Tx, imp staging.Import, released []replacedRow,
) error {
	rows := map[uuid.UUID]*replacedRow{}
	var ids []uuid.UUID
	for i, r := range released {
		rows[r.DuplicateOf], ids = &released[i], append(ids, r.DuplicateOf)
	}
	before, err := posting.LockAll(ctx, tx, imp.OwnerID, ids)
	if err != nil {
		return err
	}
	externals := make([]*string, len(before))
	for i, t := range before {
		externals[i] = &rows[t.ID].Replaced.ExternalID
	}
	taken, err := takenExternal(ctx, tx, imp.OwnerID, before, externals)
	if err != nil {
		return err
	}
	after := slices.Clone(before)
	for i := range after {
		t := &after[i]
		rows[t.ID].restore(t)
		if taken[i] && t.ExternalID == externals[i] {
			t.ExternalID = nil
		}
		t.Version++
		t.UpdatedAt = x.Now()
	}
	return update(ctx, tx, x.Ledger, before, after)
}

// restore gives a transaction the values before its replacement by r back. A value that is not the
// one of r any more stays.
func (r *replacedRow) restore(transaction *posting.Transaction) {
	former := &r.Replaced
	if transaction.ExternalID != nil && *transaction.ExternalID == r.ExternalID {
		transaction.ExternalID = &former.ExternalID
	}
	if !isFixed(*transaction) && transaction.Currency == r.Currency &&
		transaction.AmountMinor == r.AmountMinor {
		transaction.AmountMinor = former.AmountMinor
	}
	if !isFixed(*transaction) && transaction.Date.Equal(r.Date) {
		transaction.Date = former.Date
	}
	if transaction.ReconciliationID == nil {
		transaction.Cleared = transaction.Cleared && !r.FilledCleared
	}
	if r.FilledPayee != nil && transaction.Payee == *r.FilledPayee {
		transaction.Payee = ""
	}
	if r.FilledNotes != nil && transaction.Notes == *r.FilledNotes {
		transaction.Notes = ""
	}
}
