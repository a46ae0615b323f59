package accounts

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateWalletLimit(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	srv.MakeWallets(ctx, t, MaxWallets-2, "EUR")
	create := func(i int) error {
		_, err := srv.CreateWallet(ctx,
			&walletCreate{Name: fmt.Sprint("Another ", i), Currency: "EUR"})
		return err
	}
	require.Equal(t, 2, fixture.Simultaneous(t, 6, "WALLET_LIMIT_REACHED", create))
	srv.RequireRejected(t, codes.AlreadyExists, "WALLET_LIMIT_REACHED", func() error {
		return create(0)
	})
	srv.MakeWallet(fixture.ActAs(t.Context(), srv.NewID()), t, "of another user", "EUR")
}

func TestCreateCategoryLimit(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	srv.MakeCategories(ctx, t, MaxCategories-2)
	create := func(i int) error {
		_, err := srv.CreateCategory(ctx, &categoryCreate{Name: fmt.Sprint("Another ", i)})
		return err
	}
	require.Equal(t, 2, fixture.Simultaneous(t, 6, "CATEGORY_LIMIT_REACHED", create))
	srv.RequireRejected(t, codes.AlreadyExists, "CATEGORY_LIMIT_REACHED", func() error {
		return create(9)
	})
	srv.MakeCategory(fixture.ActAs(t.Context(), srv.NewID()), t, "of another user")
}
