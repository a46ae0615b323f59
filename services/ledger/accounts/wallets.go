package accounts

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// MaxWallets is the maximum number of wallets per user. It limits the rows of a summary. Users with
// more wallets keep them, but cannot create further ones.
const MaxWallets = 500

// CreateWallet creates a wallet with an opening balance. The balance is not a transaction: it is no
// income, and past balances contain it from the opening day on. Several wallets may have the same
// name. Errors: WALLET_LIMIT_REACHED.
func (s *Accounts) CreateWallet(
	ctx context.Context, req *ledgerv1.CreateWalletRequest,
) (*ledgerv1.CreateWalletResponse, error) {
	w, err := s.newWallet(ctx, s.DB, req)
	if err != nil {
		return nil, err
	}
	call := idem.Call{Owner: w.OwnerID, Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.CreateWalletResponse{Wallet: w.proto(), Etag: etag.Format(w.Version)}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, w.OwnerID); err != nil {
			return err
		}
		return s.addWallet(ctx, tx, w)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// AddWallet creates a wallet like CreateWallet, in a database transaction that has called
// posting.ShareOwner. The wallet may be archived.
func (s *Accounts) AddWallet(
	ctx context.Context, tx pgx.Tx, req *ledgerv1.CreateWalletRequest, archived bool,
) (uuid.UUID, error) {
	w, err := s.newWallet(ctx, tx, req)
	if err != nil {
		return uuid.Nil, err
	}
	w.Archived = archived
	return w.ID, s.addWallet(ctx, tx, w)
}

// newWallet returns the wallet of a request. By default, its opening balance counts from today.
func (s *Accounts) newWallet(
	ctx context.Context, q pg.Querier, req *ledgerv1.CreateWalletRequest,
) (wallet, error) {
	created, err := parseWallet(req)
	if err != nil {
		return wallet{}, err
	}
	created.ID, created.OwnerID = s.NewID(), caller.ID(ctx)
	created.Version, created.CreatedAt = 1, s.Now()
	created.UpdatedAt = created.CreatedAt
	if req.OpeningDate == nil {
		today, err := s.Today(ctx, q, created.OwnerID)
		if err != nil {
			return wallet{}, err
		}
		created.OpeningDate = &today
	}
	return created, nil
}

func (s *Accounts) addWallet(ctx context.Context, tx pgx.Tx, w wallet) error {
	n, err := countRows(ctx, tx, "wallets", w.OwnerID)
	if err != nil {
		return err
	}
	if n >= MaxWallets {
		return errWalletLimitReached
	}
	if err := insertWallet(ctx, tx, w); err != nil {
		return err
	}
	return s.Publish(ctx, tx, w.OwnerID,
		&ledgerv1.WalletCreated{OwnerId: w.OwnerID.String(), Wallet: w.proto()})
}

// ListWallets returns a page of the caller's wallets in the order of walletPlace. A cursor is valid
// for the same filter only.
func (s *Accounts) ListWallets(
	ctx context.Context, req *ledgerv1.ListWalletsRequest,
) (*ledgerv1.ListWalletsResponse, error) {
	owner := caller.ID(ctx)
	scope := "wallets " + owner.String()
	if req.Archived != nil {
		scope += " archived " + strconv.FormatBool(req.GetArchived())
	}
	wallets, pagination, err := page.List(s.Cursors, page.Query[wallet, walletPlace]{
		Scope: scope, Limit: req.Limit, Cursor: req.GetCursor(), First: walletPlace{Rank: -1},
		Position: wallet.place,
		Select: func(after walletPlace, limit int) ([]wallet, error) {
			return selectWallets(ctx, s.DB, owner, req.Archived, after, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.ListWalletsResponse{Pagination: pagination}
	for _, w := range wallets {
		resp.Wallets = append(resp.Wallets, w.proto())
	}
	return resp, nil
}

// GetWallet returns one of the caller's wallets, with its current balances. With include=cleared,
// the response also compares them with the bank.
func (s *Accounts) GetWallet(
	ctx context.Context, req *ledgerv1.GetWalletRequest,
) (*ledgerv1.GetWalletResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, request.ErrInvalidWalletID
	}
	to, err := parseInclude(req)
	if err != nil {
		return nil, err
	}
	w, err := selectWallet(ctx, s.DB, caller.ID(ctx), id)
	if err != nil {
		return nil, pg.IfNoRows(err, request.ErrWalletNotFound)
	}
	resp := &ledgerv1.GetWalletResponse{Wallet: w.proto(), Etag: etag.Format(w.Version)}
	if slices.Contains(req.GetInclude(), includeCleared) {
		resp.Cleared, err = s.compareCleared(ctx, w, to)
	}
	return resp, err
}

// UpdateWallet renames, archives or restores a wallet, or changes its kind, its appearance or its
// opening balance. The balance changes with the opening balance. The currency cannot be changed.
// Clients hide archived wallets, but transactions in them can still be created and changed. Errors:
// WALLET_NOT_FOUND, VERSION_MISMATCH and EMPTY_UPDATE.
func (s *Accounts) UpdateWallet(
	ctx context.Context, req *ledgerv1.UpdateWalletRequest,
) (*ledgerv1.UpdateWalletResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, request.ErrInvalidWalletID
	}
	changes, err := parseWalletChanges(req)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.UpdateWalletResponse{}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, caller.ID(ctx)); err != nil {
			return err
		}
		changed, err := s.lockWallet(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		before := changed.InitialMinor
		if err := changes.apply(&changed); err != nil {
			return err
		}
		changed.Version++
		changed.UpdatedAt = s.Now()
		if err := updateWallet(ctx, tx, changed, changed.InitialMinor-before); err != nil {
			if pg.IsViolation(err, "wallet_balances_amount_range") {
				return errBalanceOverflow
			}
			return err
		}
		resp.Wallet, resp.Etag = changed.proto(), etag.Format(changed.Version)
		return s.Publish(ctx, tx, changed.OwnerID,
			&ledgerv1.WalletUpdated{OwnerId: changed.OwnerID.String(), Wallet: changed.proto()})
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// DeleteWallet deletes a wallet that no transaction and no rule uses. The owner's lock prevents
// concurrent transactions in it. A used wallet can be archived instead. Errors: WALLET_IN_USE,
// VERSION_MISMATCH.
func (s *Accounts) DeleteWallet(
	ctx context.Context, req *ledgerv1.DeleteWalletRequest,
) (*ledgerv1.DeleteWalletResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, request.ErrInvalidWalletID
	}
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.LockOwner(ctx, tx, caller.ID(ctx)); err != nil {
			return err
		}
		locked, err := s.lockWallet(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		if err := deleteWallet(ctx, tx, locked.OwnerID, id, s.Now()); err != nil {
			if pg.IsViolation(err, "transactions_wallet_fkey") {
				return errWalletInUse
			}
			return err
		}
		return s.Publish(ctx, tx, locked.OwnerID,
			&ledgerv1.WalletDeleted{OwnerId: locked.OwnerID.String(), WalletId: id.String()})
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteWalletResponse{Id: id.String()}, nil
}

// lockWallet returns the caller's wallet if its version matches If-Match, and prevents changes
// until tx ends. It reads the wallet in a second statement, whose snapshot is newer than the lock,
// and so includes the change that the lock waited for.
func (s *Accounts) lockWallet(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string,
) (wallet, error) {
	owner := caller.ID(ctx)
	if err := lockWalletRow(ctx, tx, owner, id); err != nil {
		return wallet{}, pg.IfNoRows(err, request.ErrWalletNotFound)
	}
	w, err := selectWallet(ctx, tx, owner, id)
	if err != nil {
		return wallet{}, err
	}
	if !etag.Matches(ifMatch, w.Version) {
		return wallet{}, apierr.VersionMismatch
	}
	return w, nil
}

// proto returns w as the API shows it. Amounts[0] is the balance in the wallet's own currency.
func (w wallet) proto() *ledgerv1.Wallet {
	m := &ledgerv1.Wallet{
		Id:             w.ID.String(),
		Name:           w.Name,
		Currency:       w.Currency,
		Balance:        money.CurrencyOf(w.Currency).Format(w.Amounts[0]),
		InitialBalance: money.CurrencyOf(w.Currency).Format(w.InitialMinor),
		OpeningDate:    formatDay(w.OpeningDate),
		Archived:       w.Archived,
		Kind:           w.Kind,
		Color:          w.Color,
		Icon:           w.Icon,
		Position:       w.Position,
		CreatedAt:      calendar.FormatTime(w.CreatedAt),
		UpdatedAt:      calendar.FormatTime(w.UpdatedAt),
	}
	for i, code := range w.Currencies {
		m.Balances = append(m.Balances,
			&ledgerv1.Balance{Currency: code, Amount: money.CurrencyOf(code).Format(w.Amounts[i])})
	}
	return m
}
