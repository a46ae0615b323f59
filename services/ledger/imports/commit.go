package imports

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// chunkRows is the number of rows that are committed together.
const chunkRows = 500

// maxTags is the maximum number of tags of a transaction, and maxTagName that of the characters of a tag.
const (
	maxTags    = 20
	maxTagName = 50
)

// prepare creates the wallets and categories that the commit needs, resolves the rows with them, and starts the first chunk. It can be
// repeated: a wallet or category that exists already is used.
func (s *Imports) prepare(ctx context.Context, j job, e entry) error {
	details, err := e.detailed()
	if err != nil {
		return err
	}
	created := false
	for _, a := range details.GetAccounts() {
		if a.GetCreate() && a.GetWalletId() == "" {
			if err := s.createWallet(ctx, e, details, a); err != nil {
				return err
			}
			created = true
		}
	}
	for _, c := range details.GetCategories() {
		if c.GetCreate() && c.GetCategoryId() == "" {
			if err := s.createCategory(ctx, c); err != nil {
				return err
			}
			created = true
		}
	}
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		if created {
			if err := resolveAll(ctx, tx, j.OwnerID, j.ID, details, false); err != nil {
				return err
			}
			if err := e.describe(details); err != nil {
				return err
			}
		}
		if err := s.remember(ctx, tx, e, details); err != nil {
			return err
		}
		e.Status, e.UpdatedAt = running, s.Now()
		return updateImport(ctx, tx, e)
	})
}

// createWallet creates the wallet of an account. The idempotency key makes a repeated attempt find the wallet of the first one.
func (s *Imports) createWallet(ctx context.Context, e entry, details *ledgerv1.Import, a *ledgerv1.ImportAccount) error {
	code := a.GetCurrency()
	for _, other := range []string{details.GetMapping().GetCurrency(), details.GetDefaults().GetCurrency()} {
		if code == "" {
			code = other
		}
	}
	if code == "" {
		var err error
		if code, err = usualCurrency(ctx, s.DB, e.OwnerID, e.ID, a.GetKey()); err != nil {
			return err
		}
	}
	initial := a.GetOpeningBalance()
	if initial == "" {
		initial = "0"
	}
	resp, err := s.accounts.CreateWallet(ctx, &ledgerv1.CreateWalletRequest{
		Name: a.GetName(), Currency: code, Balance: &initial, IdempotencyKey: fmt.Sprintf("import %s %x", e.ID, s.mac(a.GetKey())[:8]),
	})
	if err != nil {
		return err
	}
	a.WalletId = resp.GetWallet().GetId()
	return nil
}

// createCategory creates a category, or finds the one that has its name.
func (s *Imports) createCategory(ctx context.Context, c *ledgerv1.ImportCategory) error {
	resp, err := s.accounts.CreateCategory(ctx, &ledgerv1.CreateCategoryRequest{Name: c.GetName()})
	if err == nil {
		c.CategoryId = resp.GetCategory().GetId()
		return nil
	}
	if e := apierr.From(err); e == nil || e.Reason != restv1.Reason_CATEGORY_ALREADY_EXISTS.String() {
		return err
	}
	id, err := categoryNamed(ctx, s.DB, c.GetName())
	if err != nil {
		return err
	}
	c.CategoryId, c.Create = id.String(), false
	return nil
}

// remember stores the mapping and the wallets of the accounts for the next file.
func (s *Imports) remember(ctx context.Context, tx pgx.Tx, e entry, details *ledgerv1.Import) error {
	var macs [][]byte
	var wallets []uuid.UUID
	for _, a := range details.GetAccounts() {
		if id := parseID(a.GetWalletId()); id != nil && a.GetKey() != "" {
			macs, wallets = append(macs, s.mac(a.GetKey())), append(wallets, *id)
		}
	}
	if err := saveAccountWallets(ctx, tx, e.OwnerID, macs, wallets); err != nil {
		if pg.IsViolation(err, "import_accounts_wallet_fkey") {
			return request.ErrWalletNotFound
		}
		return err
	}
	if details.GetMapping() == nil {
		return nil
	}
	mapping := toMapping(details.GetMapping())
	heading, err := headingOf(ctx, tx, &e, mapping)
	if err != nil || heading == nil {
		return err
	}
	return saveProfile(ctx, tx, e.OwnerID, s.NewID(), heading, *mapping, s.Now())
}

// commitChunk books the next rows, and ends the job if there are none.
func (s *Imports) commitChunk(ctx context.Context, j job) (finished bool, err error) {
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, j.OwnerID); err != nil {
			return err
		}
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		rows, err := selectPending(ctx, tx, j.OwnerID, j.ID, chunkRows)
		if err != nil {
			return err
		}
		if finished = len(rows) == 0; finished {
			return s.complete(ctx, tx, j, e)
		}
		return s.book(ctx, tx, e, rows)
	})
	return finished, err
}

// complete ends a commit.
func (s *Imports) complete(ctx context.Context, tx pgx.Tx, j job, e entry) error {
	if err := setStatus(ctx, tx, e, done, "", s.Now()); err != nil {
		return err
	}
	m, err := s.current(ctx, tx, j)
	if err != nil {
		return err
	}
	return s.Publish(ctx, tx, j.OwnerID, &ledgerv1.ImportCommitted{OwnerId: j.OwnerID.String(), Import: m})
}

// chunk is what a chunk of rows writes.
type chunk struct {
	entry
	details *ledgerv1.Import
	now     time.Time
	newID   func() uuid.UUID

	rows         []row
	transactions []posting.Transaction
	partners     map[int32]*row
}

// book writes the transactions of rows with their outcome, the progress of the import and one event.
func (s *Imports) book(ctx context.Context, tx pgx.Tx, e entry, rows []row) error {
	details, err := e.detailed()
	if err != nil {
		return err
	}
	before := tally(rows)
	if err := link(ctx, tx, e.OwnerID, rows, s.Now()); err != nil {
		return err
	}
	if err := skipExisting(ctx, tx, e.OwnerID, rows); err != nil {
		return err
	}
	c := &chunk{entry: e, details: details, now: s.Now(), newID: s.NewID, rows: rows, partners: map[int32]*row{}}
	if err := c.findPartners(ctx, tx); err != nil {
		return err
	}
	for i := range c.rows {
		if err := c.add(&c.rows[i]); err != nil {
			return err
		}
	}
	if len(c.transactions) > 0 {
		if err := posting.UseTags(ctx, tx, e.OwnerID, s.Now(), c.transactions); err != nil {
			return err
		}
		written, err := posting.Insert(ctx, tx, 0, c.transactions, outbox.Rows{}, nil)
		if err != nil {
			return posting.ClientError(err)
		}
		for _, t := range c.transactions {
			if !written[t.ID] {
				return posting.NotInserted(ctx, tx, t)
			}
		}
	}
	outcome := c.outcomes()
	if err := setOutcomes(ctx, tx, e.OwnerID, e.ID, outcome); err != nil {
		return err
	}
	after := tally(outcome)
	for n, r := range c.partners {
		if r.Status == booked && !slices.ContainsFunc(rows, func(o row) bool { return o.N == n }) {
			before.Ready++
		}
	}
	if err := addProgress(ctx, tx, e, after.minus(before), int64(len(outcome)), s.Now()); err != nil {
		return err
	}
	if len(c.transactions) == 0 {
		return nil
	}
	return s.Publish(ctx, tx, e.OwnerID, imported(e, c.transactions))
}

// imported returns the event of a chunk.
func imported(e entry, ts []posting.Transaction) *ledgerv1.TransactionsImported {
	event := &ledgerv1.TransactionsImported{OwnerId: e.OwnerID.String(), ImportId: e.ID.String(), Count: int32(len(ts))}
	event.WalletIds, event.CategoryIds, event.FirstDate, event.LastDate = concerned(ts)
	return event
}

// concerned returns the wallets and categories of transactions and their first and last day.
func concerned(ts []posting.Transaction) (wallets, categories []string, first, last string) {
	add := func(to *[]string, id string) {
		if !slices.Contains(*to, id) {
			*to = append(*to, id)
		}
	}
	from, end := ts[0].Date, ts[0].Date
	for _, t := range ts {
		add(&wallets, t.WalletID.String())
		if t.CategoryID != nil {
			add(&categories, t.CategoryID.String())
		}
		for _, p := range t.Splits {
			add(&categories, p.CategoryID.String())
		}
		if t.Date.Before(from) {
			from = t.Date
		}
		if t.Date.After(end) {
			end = t.Date
		}
	}
	return wallets, categories, day(&from), day(&end)
}

// tally counts rows by status.
func tally(rows []row) counts {
	var c counts
	for _, r := range rows {
		switch r.Status {
		case ready:
			c.Ready++
		case duplicate:
			c.Duplicate++
		case matched:
			c.Matched++
		case skipped:
			c.Skipped++
		case booked:
			c.Booked++
		}
	}
	return c
}

// minus returns the difference of two counts.
func (c counts) minus(o counts) counts {
	return counts{
		Ready: c.Ready - o.Ready, Duplicate: c.Duplicate - o.Duplicate, Matched: c.Matched - o.Matched, Invalid: c.Invalid - o.Invalid,
		Skipped: c.Skipped - o.Skipped, Booked: c.Booked - o.Booked, Undone: c.Undone - o.Undone,
	}
}

// link gives the transactions that rows match the external ids of the rows. A row whose transaction was deleted or has an external id
// meanwhile is booked.
func link(ctx context.Context, tx pgx.Tx, owner uuid.UUID, rows []row, now time.Time) error {
	var ids []uuid.UUID
	var externals []string
	for _, r := range rows {
		if r.Status == matched {
			ids, externals = append(ids, deref(r.DuplicateOf)), append(externals, r.ExternalID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	linked, err := linkTransactions(ctx, tx, owner, ids, externals, now)
	if err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Status != matched:
		case linked[deref(r.DuplicateOf)]:
			r.TransactionID = r.DuplicateOf
		default:
			r.Status, r.DuplicateOf = ready, nil
		}
	}
	return nil
}

// skipExisting marks the rows whose external id a transaction of their wallet has: another import has created it since the preview.
func skipExisting(ctx context.Context, tx pgx.Tx, owner uuid.UUID, rows []row) error {
	var wallets []uuid.UUID
	var externals []string
	for _, r := range rows {
		if r.Status == ready && r.ExternalID != "" && r.WalletID != nil {
			wallets, externals = append(wallets, *r.WalletID), append(externals, r.ExternalID)
		}
	}
	existing, err := selectExternal(ctx, tx, owner, wallets, externals)
	if err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		if id, ok := existing[external{deref(r.WalletID), r.ExternalID}]; ok && r.Status == ready {
			if r.Action == actionBook {
				// The user books it anyway. Two transactions of a wallet cannot have the same external id.
				r.ExternalID = ""
				continue
			}
			r.Status, r.DuplicateOf = duplicate, &id
		}
	}
	return nil
}

// findPartners reads the other sides of transfers, which may be behind this chunk.
func (c *chunk) findPartners(ctx context.Context, tx pgx.Tx) error {
	var missing []int32
	for i := range c.rows {
		r := &c.rows[i]
		if r.Status != ready || r.PairN == nil {
			continue
		}
		j := slices.IndexFunc(c.rows, func(o row) bool { return o.N == *r.PairN })
		if j >= 0 {
			c.partners[*r.PairN] = &c.rows[j]
		} else {
			missing = append(missing, *r.PairN)
		}
	}
	others, err := selectNumbered(ctx, tx, c.OwnerID, c.ID, missing)
	if err != nil {
		return err
	}
	for i := range others {
		c.partners[others[i].N] = &others[i]
	}
	return nil
}

// outcomes returns the rows of the chunk, and the other sides of transfers behind it that were booked with them.
func (c *chunk) outcomes() []row {
	all := slices.Clone(c.rows)
	for n, r := range c.partners {
		if r.Status == booked && !slices.ContainsFunc(c.rows, func(o row) bool { return o.N == n }) {
			all = append(all, *r)
		}
	}
	return all
}

// add adds the transaction of a row, or both legs of its transfer.
func (c *chunk) add(r *row) error {
	if r.Status != ready {
		return nil
	}
	if r.WalletID == nil || r.AmountMinor == nil {
		return request.ErrWalletNotFound
	}
	t := c.transaction(r)
	if r.TransferWalletID == nil {
		if err := c.categorize(r, &t); err != nil {
			return err
		}
		c.put(r, t)
		return nil
	}
	id := c.newID()
	t.TransferID = &id
	var partner *row
	if r.PairN != nil {
		partner = c.partners[*r.PairN]
	}
	if partner != nil && partner.Status == ready && partner.WalletID != nil && partner.AmountMinor != nil {
		other := c.transaction(partner)
		other.TransferID = &id
		c.put(r, t)
		c.put(partner, other)
		return nil
	}
	other := t
	other.ID, other.WalletID, other.AmountMinor, other.ExternalID, other.ImportID = c.newID(), *r.TransferWalletID, -t.AmountMinor, nil, nil
	if r.Transfer != nil && r.Transfer.Amount != "" && r.ChosenWalletID == nil {
		record := formats.Record{Amount: r.Transfer.Amount, Currency: r.Transfer.Currency}
		minor, currency, err := record.Minor(money.CurrencyOf(t.Currency))
		if err == nil && minor != 0 && (minor < 0) != (t.AmountMinor < 0) {
			other.AmountMinor, other.Currency = minor, currency.Code()
		}
	}
	c.put(r, t)
	c.transactions = append(c.transactions, other)
	return nil
}

// put adds a transaction as the outcome of a row.
func (c *chunk) put(r *row, t posting.Transaction) {
	r.Status, r.Problem, r.TransactionID = booked, "", &t.ID
	c.transactions = append(c.transactions, t)
}

// transaction returns the transaction of a row without category and transfer.
func (c *chunk) transaction(r *row) posting.Transaction {
	t := posting.Transaction{
		ID: c.newID(), OwnerID: c.OwnerID, WalletID: *r.WalletID, AmountMinor: *r.AmountMinor, Currency: r.BookedCurrency,
		Date: time.Date(r.Date.Year(), r.Date.Month(), r.Date.Day(), 0, 0, 0, 0, time.UTC), Payee: r.payee(), Description: r.description(),
		Notes: r.Notes, TagNames: tagNames(r.Tags), ImportID: &c.ID, Version: 1, CreatedAt: c.now, UpdatedAt: c.now,
	}
	if r.ExternalID != "" {
		t.ExternalID = &r.ExternalID
	}
	return t
}

// categorize sets the category of a transaction, or its splits.
func (c *chunk) categorize(r *row, t *posting.Transaction) error {
	if len(r.Splits) == 0 || r.ChosenCategoryID != nil {
		if r.CategoryID == nil {
			return request.ErrCategoryNotFound
		}
		t.CategoryID = r.CategoryID
		return nil
	}
	sum := int64(0)
	for _, s := range r.Splits {
		record := formats.Record{Amount: s.Amount, Currency: r.BookedCurrency}
		minor, _, err := record.Minor(money.Currency{})
		if err != nil || minor == 0 {
			continue
		}
		category := c.named(s.Category)
		if category == nil {
			return request.ErrCategoryNotFound
		}
		sum += minor
		t.Splits = append(t.Splits, posting.Split{CategoryID: *category, AmountMinor: minor, Description: s.Description})
	}
	if sum != t.AmountMinor || len(t.Splits) == 1 {
		// The parts do not add up, which a statement of the file cannot explain. The amount of the whole counts.
		if t.CategoryID = c.named(r.Splits[0].Category); t.CategoryID == nil {
			return request.ErrCategoryNotFound
		}
		t.Splits = nil
	}
	return nil
}

// named returns the category with a name in the file, or the default one.
func (c *chunk) named(name string) *uuid.UUID {
	for _, n := range c.details.GetCategories() {
		if n.GetName() == name && n.GetCategoryId() != "" {
			return parseID(n.GetCategoryId())
		}
	}
	d := c.details.GetDefaults()
	if id := parseID(d.GetExpenseCategoryId()); id != nil {
		return id
	}
	return parseID(d.GetIncomeCategoryId())
}

// tagNames returns the names in a file that tags may have.
func tagNames(names []string) []string {
	var valid []string
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name != "" && !strings.ContainsAny(name, ",/") && len([]rune(name)) <= maxTagName && len(valid) < maxTags && !slices.Contains(valid, name) {
			valid = append(valid, name)
		}
	}
	return valid
}
