package booking

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// createdCost is the number of rows that are booked in about the time in which a wallet or category
// is created.
const createdCost = 10

// createChunk creates the next wallets and categories that a commit needs, and reports whether
// there were none. Their records, by which the undo finds them, and their ids in the details of the
// import commit together with them.
func (x *executor) createChunk(
	ctx context.Context, j jobs.Job, pace *jobs.Pace,
) (finished bool, err error) {
	err = x.inChunk(ctx, j, func(tx pgx.Tx, imp staging.Import) error {
		details, err := imp.ReadDetails()
		if err != nil {
			return err
		}
		created, assigned, err := x.createMissing(ctx, tx, imp, details, pace.Rows()/createdCost)
		if err != nil {
			return err
		}
		if finished = assigned == 0; finished {
			return nil
		}
		if err := staging.InsertCreations(ctx, tx, imp.OwnerID, imp.ID, created); err != nil {
			return err
		}
		if err := imp.SetDetails(details); err != nil {
			return err
		}
		imp.Derivation = new(x.NewID())
		return setCreated(ctx, tx, imp, x.Now())
	})
	return finished, err
}

// createMissing creates up to limit wallets and categories, and sets their ids in details. assigned
// is the number of ids, which includes those of categories that the user has created since the
// preview.
func (x *executor) createMissing(
	ctx context.Context, tx pgx.Tx, imp staging.Import, details *ledgerv1.Import, limit int,
) (created []staging.Creation, assigned int, err error) {
	for _, account := range details.GetAccounts() {
		if !account.GetCreate() || account.GetWalletId() != "" || assigned == limit {
			continue
		}
		id, err := x.createWallet(ctx, tx, imp, details, account)
		if err != nil {
			return nil, 0, err
		}
		account.WalletId = id.String()
		created = append(created, staging.Creation{ID: id, Kind: staging.CreatedWallet})
		assigned++
	}
	for _, category := range details.GetCategories() {
		if !category.GetCreate() || category.GetCategoryId() != "" || assigned == limit {
			continue
		}
		id, found, err := categoryNamed(ctx, tx, imp.OwnerID, category.GetName())
		if err != nil {
			return nil, 0, err
		}
		if category.Create = !found; !found {
			id, err = x.accounts.AddCategory(ctx, tx, &ledgerv1.CreateCategoryRequest{
				Name: category.GetName(), Color: category.GetColor(), Icon: category.GetIcon(),
				Kind: category.GetKind(),
			})
			if err != nil {
				return nil, 0, err
			}
			created = append(created, staging.Creation{ID: id, Kind: staging.CreatedCategory})
		}
		category.CategoryId = id.String()
		assigned++
	}
	return created, assigned, nil
}

// createWallet creates the wallet of an account, in the currency of the account or otherwise of its
// rows.
func (x *executor) createWallet(
	ctx context.Context, tx pgx.Tx, imp staging.Import, details *ledgerv1.Import,
	account *ledgerv1.ImportAccount,
) (uuid.UUID, error) {
	code := account.GetCurrency()
	if code == "" {
		usual, err := usualCurrency(ctx, tx, imp.OwnerID, imp.ID, account.GetKey())
		if err != nil {
			return uuid.Nil, err
		}
		code = cmp.Or(usual,
			details.GetMapping().GetCurrency(), details.GetDefaults().GetCurrency())
	}
	initial := cmp.Or(account.GetOpeningBalance(), "0")
	var kind *string
	if account.GetKind() != "" {
		kind = &account.Kind
	}
	return x.accounts.AddWallet(ctx, tx, &ledgerv1.CreateWalletRequest{
		Name: account.GetName(), Currency: code, Balance: &initial,
		OpeningDate: new(account.GetOpeningDate()),
		Color:       account.GetColor(), Icon: account.GetIcon(), Position: account.Position,
		Kind: kind,
	}, account.GetArchived())
}

// prepare stores the assignments for later files, and sets the status running.
func (x *executor) prepare(ctx context.Context, j jobs.Job) error {
	return pg.InTx(ctx, x.DB, func(tx pgx.Tx) error {
		imp, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		details, err := imp.ReadDetails()
		if err != nil {
			return err
		}
		if err := x.remember(ctx, tx, imp, details); err != nil {
			return err
		}
		imp.Status, imp.UpdatedAt = staging.Running, x.Now()
		return staging.UpdateImport(ctx, tx, imp)
	})
}

// remember stores the mapping and the wallets of the accounts for the next file. Only a commit does
// this, because it confirms the user's assignments.
func (x *executor) remember(
	ctx context.Context, tx pgx.Tx, imp staging.Import, details *ledgerv1.Import,
) error {
	if err := x.rememberWallets(ctx, tx, imp.OwnerID, details); err != nil {
		return err
	}
	if details.GetMapping() == nil {
		return nil
	}
	mapping := staging.ToMapping(details.GetMapping())
	if !slices.Contains(details.GetWarnings(), statement.CurrencyAssumed) {
		// The file states the currency. The next file with this heading may belong to an account in
		// another currency.
		mapping.Currency = ""
	}
	heading, err := staging.Heading(ctx, tx, &imp, mapping)
	if err != nil || heading == nil {
		return err
	}
	return staging.SaveProfile(ctx, tx, imp.OwnerID, x.NewID(), heading, *mapping, x.Now())
}

// rememberWallets stores the wallets of accounts, and the wallet of rows without an account for
// files with the same heading.
func (x *executor) rememberWallets(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, details *ledgerv1.Import,
) error {
	var macs [][]byte
	var wallets []uuid.UUID
	for _, a := range details.GetAccounts() {
		key, wallet := a.GetKey(), a.GetWalletId()
		if key == "" {
			key = staging.HeadingAccount(details)
			wallet = cmp.Or(wallet, details.GetDefaults().GetWalletId())
		}
		if id := staging.ParseID(wallet); id != nil && key != "" {
			macs, wallets = append(macs, x.key.MAC(key)), append(wallets, *id)
		}
	}
	err := staging.SaveAccountWallets(ctx, tx, owner, macs, wallets)
	if pg.IsViolation(err, "import_accounts_wallet_fkey") {
		return request.ErrWalletNotFound
	}
	return err
}
