package accounts

import (
	"context"
	"fmt"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// maxBalanceWallets is the maximum number of wallets in one request for balances.
const maxBalanceWallets = 1000

// ReadBalances returns the current balances of an owner's wallets, and the owner's time zone. Only
// the budget service may call it.
func (s *Accounts) ReadBalances(
	ctx context.Context, req *ledgerv1.ReadBalancesRequest,
) (*ledgerv1.ReadBalancesResponse, error) {
	var problems apierr.Problems
	owner := request.ParseServiceID(&problems, "ownerId", req.GetOwnerId())
	if len(req.GetWalletIds()) > maxBalanceWallets {
		problems.Invalid("walletIds", fmt.Sprintf("must be at most %d", maxBalanceWallets))
	}
	wallets := request.ParseIDs(&problems, "walletIds", req.GetWalletIds(),
		request.ErrInvalidWalletID)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	zone, err := posting.SelectTimeZone(ctx, s.DB, owner)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.ReadBalancesResponse{TimeZone: zone}
	if len(wallets) == 0 {
		return resp, nil
	}
	balances, err := selectBalances(ctx, s.DB, owner, wallets)
	if err != nil {
		return nil, err
	}
	for _, b := range balances {
		resp.Balances = append(resp.Balances, &ledgerv1.WalletBalance{
			WalletId: b.WalletID.String(), Currency: b.Currency, BalanceMinor: b.AmountMinor,
		})
	}
	return resp, nil
}
