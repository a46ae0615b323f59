package accounts

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestReadBalances(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	p, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	pgtest.Exec(t, srv.DB, `
		UPDATE wallet_balances
		SET amount_minor = 12345
		WHERE owner_id = $1 AND wallet_id = $2`, p.ID, p.Wallet)
	pgtest.Exec(t, srv.DB, `
		INSERT INTO settings (owner_id, time_zone, week_start, locale, base_currency, version,
			updated_at)
		VALUES ($1, 'Asia/Tokyo', 'monday', '', '', 1, now())`, p.ID)
	want := &ledgerv1.ReadBalancesResponse{
		TimeZone: "Asia/Tokyo",
		Balances: []*ledgerv1.WalletBalance{{
			WalletId: p.Wallet.String(), Currency: "EUR", BalanceMinor: 123_45,
		}},
	}
	got, err := srv.ReadBalances(t.Context(), &ledgerv1.ReadBalancesRequest{
		OwnerId: p.ID.String(),
		WalletIds: []string{
			p.Wallet.String(), p.Wallet.String(), stranger.Wallet.String(), srv.NewID().String(),
		},
	})
	require.NoError(t, err)
	require.True(t, proto.Equal(want, got), got)
	got, err = srv.ReadBalances(t.Context(),
		&ledgerv1.ReadBalancesRequest{OwnerId: stranger.ID.String()})
	require.NoError(t, err)
	require.True(t, proto.Equal(&ledgerv1.ReadBalancesResponse{}, got), got)

	for field, req := range map[string]*ledgerv1.ReadBalancesRequest{
		"ownerId": {OwnerId: "x"},
		"walletIds": {
			OwnerId: p.ID.String(), WalletIds: make([]string, maxBalanceWallets+1),
		},
	} {
		_, err := srv.ReadBalances(t.Context(), req)
		e := apierr.From(err)
		require.NotNil(t, e, "%v", err)
		require.Equal(t, codes.InvalidArgument, e.Code)
		require.Equal(t, field, e.Fields[0].Name)
	}
}
