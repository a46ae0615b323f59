package tags

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

// person is a user of a ledger.
type person struct {
	*fixture.Service
	*Server
	*transactions.Transactions
	*accounts.Accounts
	fixture.User
}

// setup returns a person on a fresh database.
func setup(t *testing.T) *person {
	t.Helper()
	base := fixture.New(t)
	p := &person{
		Service: base, Server: &Server{Ledger: base.Ledger, Reads: base.Reads},
		Transactions: transactions.New(base.Ledger, base.Cursors, base.Reads),
		Accounts:     &accounts.Accounts{Ledger: base.Ledger, Cursors: base.Cursors},
	}
	base.RPCs = p
	p.Run(t.Context())
	p.User = base.NewUser(t.Context(), t)
	return p
}

// tagged creates a transaction with tags.
func (p *person) tagged(t require.TestingT, names ...string) *ledgerv1.Transaction {
	req := p.Spends("1")
	req.Tags = names
	return p.Create(t, req)
}

// list returns the tags of the person.
func (p *person) list(t *testing.T) []*ledgerv1.Tag {
	t.Helper()
	resp, err := p.ListTags(p.Ctx, &ledgerv1.ListTagsRequest{})
	require.NoError(t, err)
	return resp.GetTags()
}

// tagsOf returns the tags of a transaction.
func (p *person) tagsOf(t *testing.T, id string) []string {
	t.Helper()
	resp, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: id})
	require.NoError(t, err)
	return resp.GetTransaction().GetTags()
}

// requireTags requires that the person has exactly these tags.
func (p *person) requireTags(t *testing.T, want ...*ledgerv1.Tag) {
	t.Helper()
	got := p.list(t)
	require.Len(t, got, len(want), "%v", got)
	for i := range want {
		require.True(t, proto.Equal(want[i], got[i]), "%v", got)
	}
}

func TestUpdateTag(t *testing.T) {
	t.Parallel()
	me := setup(t)
	first, second := me.tagged(t, "Trip", "Work"), me.tagged(t, "WORK")
	me.requireTags(t, &ledgerv1.Tag{Name: "Trip", TransactionCount: 1},
		&ledgerv1.Tag{Name: "Work", TransactionCount: 2})

	resp, err := me.UpdateTag(me.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: "wOrK", Name: new("Büro"), Color: new("#1a7f5a")})
	require.NoError(t, err)
	office := &ledgerv1.Tag{Name: "Büro", Color: "#1a7f5a", TransactionCount: 2}
	require.True(t, proto.Equal(office, resp.GetTag()), resp)
	require.Equal(t, []string{"Trip", "Büro"}, me.tagsOf(t, first.GetId()))
	event := &ledgerv1.TagUpdated{OwnerId: me.ID.String(), Tag: office, PreviousName: "Work"}
	me.RequireEvent(t, event)

	_, err = me.UpdateTag(me.Ctx, &ledgerv1.UpdateTagRequest{Tag: "BÜRO", Name: new("TRIP")})
	fixture.RequireReason(t, err, codes.AlreadyExists, "TAG_ALREADY_EXISTS")
	me.requireTags(t, office, &ledgerv1.Tag{Name: "Trip", TransactionCount: 1})
	resp, err = me.UpdateTag(me.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: "Büro", Name: new("TRIP"), Merge: new(true)})
	require.NoError(t, err)
	require.True(t,
		proto.Equal(&ledgerv1.Tag{Name: "Trip", TransactionCount: 2}, resp.GetTag()), resp)
	require.Equal(t, []string{"Trip"}, me.tagsOf(t, first.GetId()))
	require.Equal(t, []string{"Trip"}, me.tagsOf(t, second.GetId()))

	_, err = me.UpdateTag(me.Ctx, &ledgerv1.UpdateTagRequest{Tag: "trip", Name: new("TRIP")})
	require.NoError(t, err, "another case needs no merge")
	me.requireTags(t, &ledgerv1.Tag{Name: "TRIP", TransactionCount: 2})
	_, err = me.UpdateTag(me.Ctx, &ledgerv1.UpdateTagRequest{Tag: "trip", Color: new("#000000")})
	require.NoError(t, err)
	_, err = me.UpdateTag(me.Ctx, &ledgerv1.UpdateTagRequest{Tag: "trip", Color: new("")})
	require.NoError(t, err)
	me.requireTags(t, &ledgerv1.Tag{Name: "TRIP", TransactionCount: 2})
	me.RequireConsistent(t)
}

// TestUpdateTagVersions requires that a change of a tag changes its ETag, that a transaction with
// the tag does not, and that a change with an old one has no effect.
func TestUpdateTagVersions(t *testing.T) {
	t.Parallel()
	me := setup(t)
	me.tagged(t, "Trip")
	get := func(name string) *ledgerv1.GetTagResponse {
		resp, err := me.GetTag(me.Ctx, &ledgerv1.GetTagRequest{Tag: name})
		require.NoError(t, err)
		return resp
	}
	old := get("TRIP")
	me.tagged(t, "Trip")
	require.Equal(t, old.GetEtag(), get("Trip").GetEtag())
	require.True(t,
		proto.Equal(&ledgerv1.Tag{Name: "Trip", TransactionCount: 2}, get("Trip").GetTag()))
	changed, err := me.UpdateTag(me.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: "Trip", Color: new("#000000"), IfMatch: old.GetEtag()})
	require.NoError(t, err)
	require.NotEqual(t, old.GetEtag(), changed.GetEtag())
	require.Equal(t, changed.GetEtag(), get("Trip").GetEtag())
	_, err = me.UpdateTag(me.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: "Trip", Name: new("Work"), IfMatch: old.GetEtag()})
	require.ErrorIs(t, err, apierr.VersionMismatch)
	_, err = me.DeleteTag(me.Ctx, &ledgerv1.DeleteTagRequest{Tag: "Trip", IfMatch: old.GetEtag()})
	require.ErrorIs(t, err, apierr.VersionMismatch)
	renamed, err := me.UpdateTag(me.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: "Trip", Name: new("Work"), IfMatch: changed.GetEtag()})
	require.NoError(t, err)
	require.Equal(t, renamed.GetEtag(), get("Work").GetEtag())
	stranger := me.NewUser(t.Context(), t)
	for _, name := range []string{"Trip", "a/b", ""} {
		_, err = me.GetTag(me.Ctx, &ledgerv1.GetTagRequest{Tag: name})
		fixture.RequireReason(t, err, codes.NotFound, "TAG_NOT_FOUND")
	}
	_, err = me.GetTag(stranger.Ctx, &ledgerv1.GetTagRequest{Tag: "Work"})
	fixture.RequireReason(t, err, codes.NotFound, "TAG_NOT_FOUND")
	_, err = me.DeleteTag(me.Ctx,
		&ledgerv1.DeleteTagRequest{Tag: "Work", IfMatch: renamed.GetEtag()})
	require.NoError(t, err)
}

func TestDeleteTag(t *testing.T) {
	t.Parallel()
	me := setup(t)
	tr := me.tagged(t, "a", "b")
	resp, err := me.DeleteTag(me.Ctx, &ledgerv1.DeleteTagRequest{Tag: "A"})
	require.NoError(t, err)
	require.Equal(t, "a", resp.GetName())
	require.Equal(t, []string{"b"}, me.tagsOf(t, tr.GetId()))
	event := &ledgerv1.TagDeleted{
		OwnerId: me.ID.String(), Tag: &ledgerv1.Tag{Name: "a", TransactionCount: 1},
	}
	me.RequireEvent(t, event)
	me.requireTags(t, &ledgerv1.Tag{Name: "b", TransactionCount: 1})
	me.RequireConsistent(t)
}

// TestTagsOfTwoUsers changes and deletes tags of a user beside another one, whose tags have the
// same names. A change gives the user's transactions a new version, because they show the names,
// and the other user's rows stay.
func TestTagsOfTwoUsers(t *testing.T) {
	t.Parallel()
	me := setup(t)
	other := *me
	other.User = me.NewUser(t.Context(), t)
	mine, both := me.tagged(t, "Trip", "Gift"), me.tagged(t, "Trip", "Work")
	other.tagged(t, "Trip", "Gift", "Work")
	rows := func(of *person) string {
		text := pgtest.Value[string](t, me.DB, `
			SELECT coalesce((SELECT string_agg(x::text, ';' ORDER BY id) FROM transactions x
			WHERE owner_id = $1), '')
				|| (SELECT string_agg(x::text, ';' ORDER BY key) FROM tags x WHERE owner_id = $1)`,
			of.ID)
		return text
	}
	version := func(id string) string {
		resp, err := me.GetTransaction(me.Ctx, &ledgerv1.GetTransactionRequest{Id: id})
		require.NoError(t, err)
		return resp.GetEtag()
	}
	before := rows(&other)
	_, err := me.UpdateTag(me.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: "Trip", Name: new("Work"), Merge: new(true)})
	require.NoError(t, err)
	require.Equal(t, []string{`"2"`, `"2"`}, []string{version(mine.GetId()), version(both.GetId())},
		"the merge changed both")
	_, err = me.UpdateTag(me.Ctx, &ledgerv1.UpdateTagRequest{Tag: "Gift", Name: new("GIFT")})
	require.NoError(t, err)
	require.Equal(t, []string{`"3"`, `"2"`}, []string{version(mine.GetId()), version(both.GetId())},
		"another case shows in one of them")
	_, err = me.DeleteTag(me.Ctx, &ledgerv1.DeleteTagRequest{Tag: "Work"})
	require.NoError(t, err)
	require.Equal(t, []string{`"4"`, `"3"`}, []string{version(mine.GetId()), version(both.GetId())},
		"the deletion changed both")
	require.Equal(t, []string{"GIFT"}, me.tagsOf(t, mine.GetId()))
	require.Equal(t, before, rows(&other))
}

func TestTagErrors(t *testing.T) {
	t.Parallel()
	me := setup(t)
	me.tagged(t, "a", "b")
	stranger := me.NewUser(t.Context(), t)
	me.tagMany(t, maxChanged+1)
	type update = ledgerv1.UpdateTagRequest
	for name, tc := range map[string]struct {
		ctx    context.Context
		req    *update
		code   codes.Code
		reason string
	}{
		"an unknown tag": {
			me.Ctx, &update{Tag: "c", Name: new("d")}, codes.NotFound, "TAG_NOT_FOUND",
		},
		"another user's tag": {
			stranger.Ctx, &update{Tag: "a", Name: new("d")}, codes.NotFound, "TAG_NOT_FOUND",
		},
		"a name with a slash": {
			me.Ctx, &update{Tag: "a", Name: new("d/e")}, codes.InvalidArgument, "VALIDATION_ERROR",
		},
		"no name": {
			me.Ctx, &update{Tag: "a", Name: new("")}, codes.InvalidArgument, "VALIDATION_ERROR",
		},
		"a color that is none": {
			me.Ctx, &update{Tag: "a", Color: new("red")}, codes.InvalidArgument, "VALIDATION_ERROR",
		},
		"nothing": {me.Ctx, &update{Tag: "a"}, codes.InvalidArgument, "EMPTY_UPDATE"},
		"a name that is taken": {
			me.Ctx, &update{Tag: "a", Name: new("B")}, codes.AlreadyExists, "TAG_ALREADY_EXISTS",
		},
		"too many": {
			me.Ctx, &update{Tag: "MANY", Name: new("c")}, codes.AlreadyExists, "LIMIT_REACHED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := me.UpdateTag(tc.ctx, tc.req)
			fixture.RequireReason(t, err, tc.code, tc.reason)
		})
	}
	_, err := me.DeleteTag(me.Ctx, &ledgerv1.DeleteTagRequest{Tag: "Many"})
	fixture.RequireReason(t, err, codes.AlreadyExists, "LIMIT_REACHED")
	_, err = me.DeleteTag(stranger.Ctx, &ledgerv1.DeleteTagRequest{Tag: "a"})
	fixture.RequireReason(t, err, codes.NotFound, "TAG_NOT_FOUND")
	me.requireTags(t, &ledgerv1.Tag{Name: "a", TransactionCount: 1},
		&ledgerv1.Tag{Name: "b", TransactionCount: 1},
		&ledgerv1.Tag{Name: "Many", TransactionCount: maxChanged + 1})
}
