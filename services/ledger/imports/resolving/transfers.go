package resolving

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// otherAccount returns the account at the other side of a row's transfer. ok is false if the row is
// no transfer, or if it has an id and the file has no other row with this id: an export of one
// wallet has one leg of each transfer.
func (c *resolver) otherAccount(row *staging.Row) (a *ledgerv1.ImportAccount, ok bool) {
	key, ok := c.otherAccounts[row.N]
	if !ok && row.Transfer != nil && row.Transfer.ID == "" {
		key, ok = row.Transfer.Account, row.Transfer.Account != row.Account
	}
	if !ok {
		return nil, false
	}
	c.others[key] = true
	return c.account(key), !c.ordinary[row.N]
}

// transferOf sets the wallet at the other side of a transfer.
func (c *resolver) transferOf(row *staging.Row) {
	c.sides = c.sides || row.Transfer != nil && row.Transfer.Paired
	switch {
	case row.ChosenWalletID != nil:
		row.TransferWalletID = row.ChosenWalletID
	case row.ChosenCategoryID == nil:
		if a, ok := c.otherAccount(row); ok {
			row.TransferWalletID = c.walletOf(a)
		}
	}
	if row.TransferWalletID != nil && row.WalletID != nil &&
		*row.TransferWalletID == *row.WalletID {
		row.TransferWalletID = nil
	}
}

// outcome is what the derivation of a row has decided about it as a side of a transfer, before the
// transfers of the file are known.
type outcome uint8

const (
	// transfers is set if the row changes the wallet at the other side.
	transfers outcome = 1 << iota
	// unready is set if the row is not booked, or not as the file says.
	unready
)

// trace remembers the outcome of a row. The stored row does not keep it: a row is derived once more
// when the transfers are known, and a search of duplicates changes its status. A derivation that
// replays these steps must decide as the first one did.
func (c *resolver) trace(row staging.Row) {
	for len(c.outcomes) <= int(row.N) {
		c.outcomes = append(c.outcomes, 0)
	}
	var outcome outcome
	if row.TransferWalletID != nil {
		outcome |= transfers
	}
	switch row.Status {
	case staging.Ready, staging.Booked, staging.Duplicate, staging.Matched:
	default:
		outcome |= unready
	}
	c.outcomes[row.N] = outcome
}

// pairing is a row that is one side of a transfer, and the row of the other side.
type pairing struct{ n, other int32 }

// pair finds the transfers of which the file has both sides, and returns their pairs in the order
// of rows. again are the rows that must be derived again, because this changes what they become:
//
//   - Two rows that name each other's account become one transfer.
//   - A transfer whose other side is not booked as its pair is an ordinary transaction: its other
//     side is skipped, or missing although the file has all rows of that account.
//   - A transfer with an account without rows and without a wallet is an ordinary transaction.
func (c *resolver) pair(
	ctx context.Context, tx pgx.Tx, owner, id uuid.UUID,
) (again []int32, pairs []pairing, err error) {
	sides, err := c.sidesOf(ctx, tx, owner, id)
	if err != nil {
		return nil, nil, err
	}
	matched := matchSides(sides)
	again = c.decide(sides, matched)
	for i, j := range matched {
		pairs = append(pairs, pairing{sides[i].N, sides[j].N})
	}
	slices.Sort(again)
	again = slices.Compact(again)
	slices.SortFunc(pairs, func(a, b pairing) int { return cmp.Compare(a.n, b.n) })
	return again, pairs, nil
}

// sidesOf returns the sides of transfers in the file. It reads no rows of a file without transfers
// and with one account.
func (c *resolver) sidesOf(
	ctx context.Context, tx pgx.Tx, owner, id uuid.UUID,
) ([]side, error) {
	named := 0
	for _, a := range c.accounts {
		if a.GetCount() > 0 && a.GetKey() != "" {
			named++
		}
	}
	if !c.sides && named < 2 {
		return nil, nil
	}
	sides, err := selectSides(ctx, tx, owner, id)
	for i, s := range sides {
		sides[i].Transfers = c.outcomes[s.N]&transfers != 0
		sides[i].Settled = s.Settled || c.outcomes[s.N]&unready != 0
		if s.TransferID != "" {
			sides[i].Other = c.otherAccounts[s.N]
		}
	}
	// The other leg of a transfer with an id is in another file.
	return slices.DeleteFunc(sides, func(s side) bool {
		return s.TransferID != "" && s.Other == ""
	}), err
}

// decide stores what the sides become, sets the warning of unpaired transfers, and returns the rows
// that must be derived again.
func (c *resolver) decide(sides []side, pairs map[int]int) (again []int32) {
	hasRows := func(key string) bool { return c.accounts[key].GetCount() > 0 }
	alone, paired := unmatched(sides, pairs, hasRows)
	single := oneSided(alone, paired)
	for i, side := range sides {
		j, matched := pairs[i]
		switch {
		case c.settled(side):
		case matched && !c.settled(sides[j]):
			if side.Origin != "" {
				c.otherAccounts[side.N] = side.Other
				again = append(again, side.N)
			}
		case side.Origin != "" || single[side.N]:
		case matched || hasRows(side.Other) || !c.assigned(side.Other):
			c.ordinary[side.N] = true
			if side.Transfers || c.accounts[side.Other].GetCreate() {
				again = append(again, side.N)
			}
		}
	}
	c.assumeUnpaired(alone, single)
	c.assumePaired(sides, pairs)
	return again
}

// maxExamples is the maximum number of pairs that a warning shows.
const maxExamples = 3

// assumePaired replaces the warning about pairs whose sides have different days. Those that the
// user has decided need none.
func (c *resolver) assumePaired(sides []side, pairs map[int]int) {
	var rows []int
	count := 0
	for i, s := range sides {
		j, ok := pairs[i]
		if !ok || j < i || !isApart(s, sides[j]) || c.settled(s) || c.settled(sides[j]) ||
			s.ChosenWalletID != nil && sides[j].ChosenWalletID != nil {
			continue
		}
		if count++; count <= maxExamples {
			rows = append(rows, int(s.N), int(sides[j].N))
		}
	}
	c.assume(statement.Assumption{
		Code:     statement.TransfersAssumed,
		Evidence: statement.Shows("SIDES_APART", "count", strconv.Itoa(count)), Rows: rows,
	})
}

// assumeUnpaired replaces the warning about unpaired sides. Those that the user has decided need
// none.
func (c *resolver) assumeUnpaired(alone []side, single map[int32]bool) {
	var rows []int
	whole := 0
	for _, s := range alone {
		if s.Settled || s.ChosenWalletID != nil {
			continue
		}
		rows = append(rows, int(s.N))
		if single[s.N] {
			whole++
		}
	}
	code := "SIDES_MIXED"
	switch whole {
	case 0:
		code = "SIDES_ORDINARY"
	case len(rows):
		code = "SIDES_WHOLE"
	}
	evidence := statement.Shows(code,
		"count", strconv.Itoa(len(rows)), "whole", strconv.Itoa(whole))
	c.assume(statement.Assumption{
		Code: statement.TransfersUnpaired, Evidence: evidence,
		Rows: rows[:min(len(rows), maxExamples)],
	})
}

// assume replaces the warning with a code, or removes it if no rows show it. A confirmed warning
// stays confirmed while it says the same.
func (c *resolver) assume(a statement.Assumption) {
	var confirmed *ledgerv1.ImportAssumption
	for _, before := range c.details.GetAssumptions() {
		if before.GetCode() == a.Code && before.GetAccepted() {
			confirmed = before
		}
	}
	staging.Withdraw(c.details, a.Code)
	if len(a.Rows) == 0 {
		return
	}
	staging.Assume(c.details, a)
	now := c.details.GetAssumptions()[len(c.details.GetAssumptions())-1]
	now.Accepted = confirmed != nil && slices.Equal(confirmed.GetRows(), now.GetRows()) &&
		confirmed.GetEvidence() == now.GetEvidence()
}

// settled reports whether a side is not booked as the transfer of the file.
func (c *resolver) settled(side side) bool {
	if side.Settled || side.ChosenWalletID == nil {
		return side.Settled
	}
	a, ok := c.accounts[side.Other]
	if !ok {
		return true
	}
	wallet := c.walletOf(a)
	return wallet == nil || *wallet != *side.ChosenWalletID
}

// assigned reports whether the user or the file's name has given an account a wallet. The default
// wallet is for the rows of accounts, so it does not count.
func (c *resolver) assigned(key string) bool {
	a := c.accounts[key]
	return a.GetWalletId() != "" || a.GetCreate()
}

// deriveAgain derives ready rows again whose transfer is known now, and returns them. It does not
// read their cells again.
func (c *resolver) deriveAgain(
	ctx context.Context, tx pgx.Tx, owner, id uuid.UUID, ns []int32,
) ([]staging.Row, error) {
	rows, err := staging.SelectNumbered(ctx, tx, owner, id, ns)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		r := &rows[i]
		c.account(r.Account).Count--
		if r.Transfer == nil && c.outcomes[r.N]&transfers == 0 && r.Category != "" {
			c.category(r.Category).Count--
		}
		c.resolve(ctx, r)
		if c.failed != nil {
			return nil, c.failed
		}
	}
	return rows, nil
}
