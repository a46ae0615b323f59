package transfers_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func TestMatchTransfer(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	spends, receives := me.Spends("30"), me.receives("30")
	spends.Description = "to the bank"
	receives.Description, receives.Date = "from cash", "2026-03-16"
	out, in := me.Create(t, spends), me.Create(t, receives)
	// Another version of one of them: the transfer's version is newer than both.
	_, err := me.UpdateTransaction(me.Ctx,
		&ledgerv1.UpdateTransactionRequest{Id: in.GetId(), Description: new("cash")})
	require.NoError(t, err)
	in = me.leg(t, in.GetId())

	resp, err := me.MatchTransfer(me.Ctx, &matchRequest{
		OutTransactionId: out.GetId(), InTransactionId: in.GetId(), IdempotencyKey: "key",
	})
	require.NoError(t, err)
	made := resp.GetTransfer()
	require.Equal(t, `"3"`, resp.GetEtag())
	require.Equal(t, "to the bank", made.GetDescription())
	require.Equal(t, "2026-03-14T00:00:00.000Z", made.GetDate())
	outLeg, inLeg := me.leg(t, out.GetId()), me.leg(t, in.GetId())
	require.Equal(t, "cash", inLeg.GetDescription())
	require.Equal(t, "2026-03-16T00:00:00.000Z", inLeg.GetDate())
	require.Empty(t, inLeg.GetCategoryId())
	events := srv.Events(t)
	require.True(t, proto.Equal(&ledgerv1.TransferCreated{OwnerId: me.ID.String(), Transfer: made},
		events[len(events)-3]))
	require.True(t, proto.Equal(&ledgerv1.TransactionUpdated{
		OwnerId: me.ID.String(), Before: out, After: outLeg,
	}, events[len(events)-2]))
	require.True(t, proto.Equal(&ledgerv1.TransactionUpdated{
		OwnerId: me.ID.String(), Before: in, After: inLeg,
	}, events[len(events)-1]))
	summary, err := me.GetSummary(me.Ctx, &ledgerv1.GetSummaryRequest{})
	require.NoError(t, err)
	require.Equal(t, "0.00", summary.GetSummary().GetTotals()[0].GetExpense())
	srv.RequireConsistent(t)

	stored := srv.Stored(t)
	again, err := me.MatchTransfer(me.Ctx, &matchRequest{
		OutTransactionId: out.GetId(), InTransactionId: in.GetId(), IdempotencyKey: "key",
	})
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.Equal(t, stored, srv.Stored(t))
	e := srv.RequireRejected(t, codes.InvalidArgument, "TRANSFER_LEGS_UNFIT", func() error {
		_, err := me.match(out.GetId(), in.GetId())
		return err
	})
	require.Equal(t, []string{"outTransactionId", "inTransactionId"}, fixture.FieldNames(e))

	fun := me.MakeCategory(me.Ctx, t, "Fun").String()
	unlinked, err := me.UnlinkTransfer(me.Ctx,
		&unlinkRequest{Id: made.GetId(), CategoryId: me.Category.String(), InCategoryId: &fun})
	require.NoError(t, err)
	require.Len(t, unlinked.GetTransactions(), 2)
	require.Equal(t, posting.Expense, me.leg(t, out.GetId()).GetType())
	require.Equal(t, me.Category.String(), me.leg(t, out.GetId()).GetCategoryId())
	require.Equal(t, posting.Income, me.leg(t, in.GetId()).GetType())
	require.Equal(t, fun, me.leg(t, in.GetId()).GetCategoryId())
	events = srv.Events(t)
	require.True(t, proto.Equal(&ledgerv1.TransferDeleted{OwnerId: me.ID.String(), Transfer: made},
		events[len(events)-3]))
	require.True(t, proto.Equal(&ledgerv1.TransactionUpdated{
		OwnerId: me.ID.String(), Before: inLeg, After: me.leg(t, in.GetId()),
	}, events[len(events)-1]))
	_, err = me.GetTransfer(me.Ctx, &ledgerv1.GetTransferRequest{Id: made.GetId()})
	fixture.RequireReason(t, err, codes.NotFound, "TRANSFER_NOT_FOUND")
	srv.RequireConsistent(t)
}

func TestMatchTransferBetweenCurrencies(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	yen := p.receives("4900")
	yen.WalletId, yen.Currency = p.yen.String(), "JPY"
	made, err := p.match(p.Create(t, p.Spends("30")).GetId(), p.Create(t, yen).GetId())
	require.NoError(t, err)
	require.Equal(t, "163.3333333", made.GetRate())
	s.RequireConsistent(t)
}

func TestMatchTransferRejects(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	out, in := me.Create(t, me.Spends("30")).GetId(), me.Create(t, me.receives("30")).GetId()
	here := me.receives("30")
	here.WalletId = me.Wallet.String()
	theirs := stranger.Create(t, stranger.receives("30")).GetId()
	transfer := me.transfer(t, me.moves("30"))
	receipt, split := srv.NewID(), me.Spends("30")
	scanned, divided := me.Create(t, me.Spends("30")).GetId(), me.Create(t, split).GetId()
	pgtest.Exec(t, srv.DB, `
		INSERT INTO receipts (owner_id, id, file_sha256, content, created_at)
		VALUES ($1, $2, '', '', now())`, me.ID, receipt)
	pgtest.Exec(t, srv.DB, `UPDATE transactions SET receipt_id = $1 WHERE id = $2`,
		receipt, scanned)
	pgtest.Exec(t, srv.DB,
		`UPDATE transactions SET split_count = 2, category_id = NULL WHERE id = $1`, divided)
	for name, tc := range map[string]struct {
		out, in string
		code    codes.Code
		reason  string
		fields  []string
	}{
		"two incomes": {
			in, in, codes.InvalidArgument, "TRANSFER_LEGS_UNFIT",
			[]string{"outTransactionId", "inTransactionId"},
		},
		"the wrong way round": {
			in, out, codes.InvalidArgument, "TRANSFER_LEGS_UNFIT",
			[]string{"outTransactionId", "inTransactionId"},
		},
		"one wallet": {
			out, me.Create(t, here).GetId(), codes.InvalidArgument, "TRANSFER_LEGS_UNFIT",
			[]string{"inTransactionId"},
		},
		"different amounts": {
			out, me.Create(t, me.receives("29")).GetId(), codes.InvalidArgument,
			"TRANSFER_LEGS_UNFIT",
			[]string{"inTransactionId"},
		},
		"a leg": {
			out, transfer.GetInTransactionId(), codes.InvalidArgument, "TRANSFER_LEGS_UNFIT",
			[]string{"inTransactionId"},
		},
		"a receipt": {
			scanned, in, codes.InvalidArgument, "TRANSFER_LEGS_UNFIT", []string{"outTransactionId"},
		},
		"splits": {
			divided, in, codes.InvalidArgument, "TRANSFER_LEGS_UNFIT", []string{"outTransactionId"},
		},
		"malformed ids": {
			"x", "", codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"inTransactionId", "outTransactionId"},
		},
		"a malformed id": {
			"x", in, codes.InvalidArgument, "INVALID_TRANSACTION_ID", []string{"outTransactionId"},
		},
		"a malformed and an unknown id": {
			"x", srv.NewID().String(), codes.InvalidArgument, "INVALID_TRANSACTION_ID",
			[]string{"outTransactionId", "inTransactionId"},
		},
		"two unknown transactions": {
			srv.NewID().String(), srv.NewID().String(), codes.NotFound, "TRANSACTION_NOT_FOUND",
			[]string{"outTransactionId", "inTransactionId"},
		},
		"an unknown transaction": {
			srv.NewID().String(), in, codes.NotFound, "TRANSACTION_NOT_FOUND",
			[]string{"outTransactionId"},
		},
		"another user's transaction": {
			out, theirs, codes.PermissionDenied, "TRANSACTION_OWNER_MISMATCH",
			[]string{"inTransactionId"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := me.match(tc.out, tc.in)
				return err
			})
			require.Equal(t, tc.fields, fixture.FieldNames(e))
		})
	}
}

func TestUnlinkTransferRejects(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	id, food := me.transfer(t, me.moves("30")).GetId(), me.Category.String()
	theirs := stranger.Category.String()
	type req = unlinkRequest
	for name, tc := range map[string]struct {
		person person
		req    *req
		code   codes.Code
		reason string
		fields []string
	}{
		"a malformed id": {
			me, &req{Id: "x", CategoryId: food}, codes.InvalidArgument, "INVALID_TRANSFER_ID", nil,
		},
		"another user's transfer": {
			stranger, &req{Id: id, CategoryId: theirs}, codes.NotFound, "TRANSFER_NOT_FOUND", nil,
		},
		"no category": {
			me, &req{Id: id}, codes.InvalidArgument, "VALIDATION_ERROR", []string{"categoryId"},
		},
		"a malformed category": {
			me, &req{Id: id, CategoryId: food, InCategoryId: new("x")}, codes.InvalidArgument,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"inCategoryId"},
		},
		"a malformed and an unknown category": {
			me, &req{Id: id, CategoryId: theirs, InCategoryId: new("x")}, codes.InvalidArgument,
			"INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"inCategoryId", "categoryId"},
		},
		"an unknown category for the income": {
			me, &req{Id: id, InCategoryId: &theirs}, codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"categoryId", "inCategoryId"},
		},
		"another user's category": {
			me, &req{Id: id, CategoryId: theirs}, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"categoryId"},
		},
		"another user's categories": {
			me, &req{Id: id, CategoryId: theirs, InCategoryId: new(srv.NewID().String())},
			codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"categoryId", "inCategoryId"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := tc.person.UnlinkTransfer(tc.person.Ctx, tc.req)
				return err
			})
			require.Equal(t, tc.fields, fixture.FieldNames(e))
		})
	}
}
