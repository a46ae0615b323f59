package accounts

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestWalletPlaceJSON(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	for _, want := range []walletPlace{
		{Rank: 0, ID: id},
		{Rank: 7, ID: id},
		{Rank: unranked, ID: id},
	} {
		b, err := json.Marshal(want)
		require.NoError(t, err)
		var got walletPlace
		require.NoError(t, json.Unmarshal(b, &got))
		require.Equal(t, want, got)
	}
	// Releases without positions read and write the id alone.
	b, err := json.Marshal(wallet{ID: id}.place())
	require.NoError(t, err)
	require.JSONEq(t, `"`+id.String()+`"`, string(b))
	var got walletPlace
	require.Error(t, json.Unmarshal([]byte(`"not an id"`), &got))
}

func TestListWalletsByPosition(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	names := map[string]string{}
	for _, tc := range []struct {
		name     string
		position *int32
	}{
		{"none", nil},
		{"second", new(int32(7))},
		{"third, older", new(int32(1_000_000))},
		{"third", new(int32(1_000_000))},
		{"first", new(int32(0))},
		{"none, newer", nil},
	} {
		created, err := srv.CreateWallet(ctx,
			&walletCreate{Name: tc.name, Currency: "EUR", Position: tc.position})
		require.NoError(t, err)
		require.Equal(t, tc.position, created.GetWallet().Position)
		names[tc.name] = created.GetWallet().GetId()
	}
	stranger := fixture.ActAs(t.Context(), srv.NewID())
	_, err := srv.CreateWallet(stranger,
		&walletCreate{Name: "another's", Currency: "EUR", Position: new(int32(1))})
	require.NoError(t, err)
	list := func(size int32, archived *bool) (got []string) {
		req := &walletList{Limit: &size, Archived: archived}
		for {
			resp, err := srv.ListWallets(ctx, req)
			require.NoError(t, err)
			for _, w := range resp.GetWallets() {
				got = append(got, w.GetName())
			}
			if req.Cursor = resp.GetPagination().GetNextCursor(); req.GetCursor() == "" {
				return got
			}
		}
	}
	want := []string{"first", "second", "third", "third, older", "none, newer", "none"}
	for size := range int32(7) {
		require.Equal(t, want, list(size+1, nil), "pages of %d", size+1)
		require.Equal(t, want, list(size+1, new(false)), "pages of %d", size+1)
	}
	// A removed position moves a wallet behind those with one.
	_, err = srv.UpdateWallet(ctx, &walletUpdate{Id: names["first"], Position: new("")})
	require.NoError(t, err)
	require.Equal(t, []string{"second", "third", "third, older", "none, newer", "first", "none"},
		list(2, nil))
}

func TestUpdateWalletAppearance(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	me.Create(t, me.Spends("5"))
	before, err := me.GetWallet(me.Ctx, &ledgerv1.GetWalletRequest{Id: me.Wallet.String()})
	require.NoError(t, err)
	want := before.GetWallet()
	for _, step := range []struct {
		req  *walletUpdate
		then func()
	}{
		{&walletUpdate{Color: new("#2f6F4F")}, func() { want.Color = "#2f6F4F" }},
		{&walletUpdate{Icon: new("💶"), Position: new("0")}, func() {
			want.Icon, want.Position = "💶", new(int32(0))
		}},
		{&walletUpdate{Name: new("Purse")}, func() { want.Name = "Purse" }},
		{&walletUpdate{Position: new("1000000")}, func() { want.Position = new(int32(1_000_000)) }},
		{&walletUpdate{Color: new("")}, func() { want.Color = "" }},
		{&walletUpdate{Icon: new(""), Position: new("")}, func() {
			want.Icon, want.Position = "", nil
		}},
	} {
		step.req.Id = me.Wallet.String()
		step.then()
		resp, err := me.UpdateWallet(me.Ctx, step.req)
		require.NoError(t, err)
		want.UpdatedAt = resp.GetWallet().GetUpdatedAt()
		require.True(t, proto.Equal(want, resp.GetWallet()),
			"want %v\ngot %v", want, resp.GetWallet())
		me.RequireEvent(t, &ledgerv1.WalletUpdated{OwnerId: me.ID.String(), Wallet: want})
		got, err := me.GetWallet(me.Ctx, &ledgerv1.GetWalletRequest{Id: me.Wallet.String()})
		require.NoError(t, err)
		require.True(t, proto.Equal(want, got.GetWallet()), got)
	}
}

func TestUpdateCategoryAppearance(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	created, err := me.CreateCategory(me.Ctx,
		&categoryCreate{Name: "Pay", Color: "#ABCDEF", Icon: "🧾", Kind: "income"})
	require.NoError(t, err)
	want := created.GetCategory()
	require.Equal(t, []string{"#ABCDEF", "🧾", "income"},
		[]string{want.GetColor(), want.GetIcon(), want.GetKind()})
	for _, step := range []struct {
		req  *categoryUpdate
		then func()
	}{
		{&categoryUpdate{Kind: new("both")}, func() { want.Kind = "both" }},
		{&categoryUpdate{Kind: new("expense"), Color: new("#000000")}, func() {
			want.Kind, want.Color = "expense", "#000000"
		}},
		{&categoryUpdate{Name: new("Wages")}, func() { want.Name = "Wages" }},
		{&categoryUpdate{Icon: new("")}, func() { want.Icon = "" }},
		{&categoryUpdate{Kind: new(""), Color: new("")}, func() { want.Kind, want.Color = "", "" }},
	} {
		step.req.Id = want.GetId()
		step.then()
		resp, err := me.UpdateCategory(me.Ctx, step.req)
		require.NoError(t, err)
		want.UpdatedAt = resp.GetCategory().GetUpdatedAt()
		require.True(t, proto.Equal(want, resp.GetCategory()),
			"want %v\ngot %v", want, resp.GetCategory())
		me.RequireEvent(t, &ledgerv1.CategoryUpdated{OwnerId: me.ID.String(), Category: want})
		listed, err := me.ListCategories(me.Ctx, &categoryList{})
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(listed.GetCategories(),
			func(c *ledgerv1.Category) bool { return proto.Equal(want, c) }))
	}
}

func TestAppearanceErrors(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	type values struct {
		color, icon, kind, position string
	}
	for name, tc := range map[string]struct {
		values
		fields []string
	}{
		"a color without #":          {values{color: "2F6F4F"}, []string{"color"}},
		"a color of three digits":    {values{color: "#abc"}, []string{"color"}},
		"a color with alpha":         {values{color: "#2F6F4F80"}, []string{"color"}},
		"a color with a line break":  {values{color: "#2F6F4F\n"}, []string{"color"}},
		"the name of a color":        {values{color: "red"}, []string{"color"}},
		"no hexadecimal digits":      {values{color: "#GGGGGG"}, []string{"color"}},
		"an icon of text":            {values{icon: "A"}, []string{"icon"}},
		"two icons":                  {values{icon: "🍎🍏"}, []string{"icon"}},
		"an icon of 18 bytes":        {values{icon: "👨‍👩‍👧"}, []string{"icon"}},
		"a long icon":                {values{icon: strings.Repeat("🍎", 1000)}, []string{"icon"}},
		"an unknown kind":            {values{kind: "transfer"}, []string{"kind"}},
		"a kind in upper case":       {values{kind: "EXPENSE"}, []string{"kind"}},
		"a negative position":        {values{position: "-1"}, []string{"position"}},
		"a position too large":       {values{position: "1000001"}, []string{"position"}},
		"a position beyond 32 bits":  {values{position: "4294967296"}, []string{"position"}},
		"a position with a fraction": {values{position: "1.5"}, []string{"position"}},
		"everything wrong in one": {
			values{color: "x", icon: "x", position: "x"}, []string{"color", "icon", "position"},
		},
		"everything of a category is": {
			values{color: "x", icon: "x", kind: "x"}, []string{"color", "icon", "kind"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rejected := func(do func() error) {
				t.Helper()
				e := me.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", do)
				require.Equal(t, tc.fields, fixture.FieldNames(e))
			}
			if tc.kind == "" {
				rejected(func() error {
					_, err := me.UpdateWallet(me.Ctx, &walletUpdate{
						Id: me.Wallet.String(), Color: &tc.color, Icon: &tc.icon,
						Position: &tc.position,
					})
					return err
				})
			}
			if tc.kind == "" && tc.position == "" {
				rejected(func() error {
					_, err := me.CreateWallet(me.Ctx,
						&walletCreate{Name: "A", Currency: "EUR", Color: tc.color, Icon: tc.icon})
					return err
				})
			}
			if tc.position == "" {
				rejected(func() error {
					_, err := me.CreateCategory(me.Ctx,
						&categoryCreate{Name: "A", Color: tc.color, Icon: tc.icon, Kind: tc.kind})
					return err
				})
				rejected(func() error {
					_, err := me.UpdateCategory(me.Ctx, &categoryUpdate{
						Id: me.Category.String(), Color: &tc.color, Icon: &tc.icon, Kind: &tc.kind,
					})
					return err
				})
			}
		})
	}
	for _, position := range []int32{-1, maxPosition + 1} {
		e := me.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := me.CreateWallet(me.Ctx,
				&walletCreate{Name: "A", Currency: "EUR", Position: &position})
			return err
		})
		require.Equal(t, []string{"position"}, fixture.FieldNames(e))
	}
}
