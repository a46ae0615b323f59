package booking

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/resolving"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/jobs"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// prepare creates the wallets and categories that the commit needs, resolves the rows with them, and sets the status running. Wallets and
// categories are created with the RPC methods of package accounts, each in a separate transaction, so limits and events apply as for
// users. prepare can be repeated: a wallet or category that exists already is used.
func (x *executor) prepare(ctx context.Context, j jobs.Job) error {
	e, err := renewLease(ctx, x.DB, j)
	if err != nil {
		return err
	}
	details, err := e.ReadDetails()
	if err != nil {
		return err
	}
	created := false
	for _, a := range details.GetAccounts() {
		if a.GetCreate() && a.GetWalletId() == "" {
			if err := x.createWallet(ctx, e, details, a); err != nil {
				return err
			}
			created = true
		}
	}
	for _, c := range details.GetCategories() {
		if c.GetCreate() && c.GetCategoryId() == "" {
			if err := x.createCategory(ctx, c); err != nil {
				return err
			}
			created = true
		}
	}
	return pg.InTx(ctx, x.DB, func(tx pgx.Tx) error {
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		if created {
			if err := resolving.All(ctx, tx, j.OwnerID, j.ID, details, false); err != nil {
				return err
			}
			if err := e.SetDetails(details); err != nil {
				return err
			}
		}
		if err := x.remember(ctx, tx, e, details); err != nil {
			return err
		}
		e.Status, e.UpdatedAt = staging.Running, x.Now()
		return staging.UpdateImport(ctx, tx, e)
	})
}

// createWallet creates the wallet of an account, in the currency of the account or otherwise of its rows. The idempotency key makes a
// repeated attempt find the wallet of the first one.
func (x *executor) createWallet(ctx context.Context, e staging.Import, details *ledgerv1.Import, a *ledgerv1.ImportAccount) error {
	code := a.GetCurrency()
	if code == "" {
		usual, err := usualCurrency(ctx, x.DB, e.OwnerID, e.ID, a.GetKey())
		if err != nil {
			return err
		}
		code = cmp.Or(usual, details.GetMapping().GetCurrency(), details.GetDefaults().GetCurrency())
	}
	initial := a.GetOpeningBalance()
	if initial == "" {
		initial = "0"
	}
	resp, err := x.accounts.CreateWallet(ctx, &ledgerv1.CreateWalletRequest{
		Name: a.GetName(), Currency: code, Balance: &initial, Color: a.GetColor(), Icon: a.GetIcon(), Position: a.Position,
		IdempotencyKey: fmt.Sprintf("import %s %x", e.ID, x.key.MAC(a.GetKey())[:8]),
	})
	if err != nil {
		return err
	}
	a.WalletId = resp.GetWallet().GetId()
	if a.GetArchived() {
		_, err = x.accounts.UpdateWallet(ctx, &ledgerv1.UpdateWalletRequest{Id: a.GetWalletId(), Archived: new(true)})
	}
	return err
}

// createCategory creates a category, or finds the one that has its name.
func (x *executor) createCategory(ctx context.Context, c *ledgerv1.ImportCategory) error {
	resp, err := x.accounts.CreateCategory(ctx, &ledgerv1.CreateCategoryRequest{
		Name: c.GetName(), Color: c.GetColor(), Icon: c.GetIcon(), Kind: c.GetKind(),
	})
	if err == nil {
		c.CategoryId = resp.GetCategory().GetId()
		return nil
	}
	if e := apierr.From(err); e == nil || e.Reason != restv1.Reason_CATEGORY_ALREADY_EXISTS.String() {
		return err
	}
	id, err := categoryNamed(ctx, x.DB, c.GetName())
	if err != nil {
		return err
	}
	c.CategoryId, c.Create = id.String(), false
	return nil
}

// remember stores the mapping and the wallets of the accounts for the next file. Only a commit does this, because it confirms the user's
// assignments.
func (x *executor) remember(ctx context.Context, tx pgx.Tx, e staging.Import, details *ledgerv1.Import) error {
	var macs [][]byte
	var wallets []uuid.UUID
	for _, a := range details.GetAccounts() {
		if id := staging.ParseID(a.GetWalletId()); id != nil && a.GetKey() != "" {
			macs, wallets = append(macs, x.key.MAC(a.GetKey())), append(wallets, *id)
		}
	}
	if err := staging.SaveAccountWallets(ctx, tx, e.OwnerID, macs, wallets); err != nil {
		if pg.IsViolation(err, "import_accounts_wallet_fkey") {
			return request.ErrWalletNotFound
		}
		return err
	}
	if details.GetMapping() == nil {
		return nil
	}
	mapping := staging.ToMapping(details.GetMapping())
	if !slices.Contains(details.GetWarnings(), statement.CurrencyAssumed) {
		// The file states the currency. The next file with this heading may belong to an account in another currency.
		mapping.Currency = ""
	}
	heading, err := staging.Heading(ctx, tx, &e, mapping)
	if err != nil || heading == nil {
		return err
	}
	return staging.SaveProfile(ctx, tx, e.OwnerID, x.NewID(), heading, *mapping, x.Now())
}
