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
	s := setup(t)
	ctx := fixture.ActAs(t.Context(), s.NewID())
	s.MakeWallets(ctx, t, MaxWallets-2, "EUR")
	create := func(i int) error {
		_, err := s.CreateWallet(ctx,
			&walletCreate{Name: fmt.Sprint("Another ", i), Currency: "EUR"})
		return err
	}
	require.Equal(t, 2, fixture.Simultaneous(t, 6, "WALLET_LIMIT_REACHED", create))
	s.RequireRejected(t, codes.AlreadyExists, "WALLET_LIMIT_REACHED", func() error {
		return create(0)
	})
	s.MakeWallet(fixture.ActAs(t.Context(), s.NewID()), t, "of another user", "EUR")
}

func TestCreateCategoryLimit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := fixture.ActAs(t.Context(), s.NewID())
	s.MakeCategories(ctx, t, MaxCategories-2)
	create := func(i int) error {
		_, err := s.CreateCategory(ctx, &categoryCreate{Name: fmt.Sprint("Another ", i)})
		return err
	}
	require.Equal(t, 2, fixture.Simultaneous(t, 6, "CATEGORY_LIMIT_REACHED", create))
	s.RequireRejected(t, codes.AlreadyExists, "CATEGORY_LIMIT_REACHED", func() error {
		return create(9)
	})
	s.MakeCategory(fixture.ActAs(t.Context(), s.NewID()), t, "of another user")
}
