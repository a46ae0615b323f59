package accounts

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCheckReferences(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	p, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	type check = ledgerv1.CheckReferencesRequest
	owner, wallet, category := p.ID.String(), p.Wallet.String(), p.Category.String()
	for name, tc := range map[string]struct {
		req    *check
		code   codes.Code
		reason string
	}{
		"both are the owner's": {
			&check{OwnerId: owner, WalletId: wallet, CategoryIds: []string{category, category}},
			codes.OK, "",
		},
		"nothing to check": {&check{OwnerId: owner}, codes.OK, ""},
		"only a category": {
			&check{OwnerId: owner, CategoryIds: []string{category}}, codes.OK, "",
		},
		"a malformed owner": {&check{OwnerId: "x"}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"no owner":          {&check{}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"a malformed wallet": {
			&check{OwnerId: owner, WalletId: "x"}, codes.InvalidArgument, "WALLET_NOT_FOUND",
		},
		"another user's wallet": {
			&check{OwnerId: owner, WalletId: stranger.Wallet.String()}, codes.NotFound,
			"WALLET_NOT_FOUND",
		},
		"an unknown wallet": {
			&check{OwnerId: owner, WalletId: srv.NewID().String()}, codes.NotFound,
			"WALLET_NOT_FOUND",
		},
		"a malformed category": {
			&check{OwnerId: owner, CategoryIds: []string{category, ""}}, codes.InvalidArgument,
			"INVALID_CATEGORY_EXIST_PARAMS",
		},
		"one category of another": {
			&check{OwnerId: owner, CategoryIds: []string{category, stranger.Category.String()}},
			codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS",
		},
		"a wallet instead of another": {
			&check{OwnerId: owner, WalletId: category}, codes.NotFound, "WALLET_NOT_FOUND",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := srv.CheckReferences(t.Context(), tc.req)
			if tc.code == codes.OK {
				require.NoError(t, err)
				return
			}
			fixture.RequireReason(t, err, tc.code, tc.reason)
		})
	}
}
