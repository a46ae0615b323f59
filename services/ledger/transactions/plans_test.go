package transactions

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func TestListTransactionsPlans(t *testing.T) {
	t.Parallel()
	service, u := fixture.NewRich(t)
	pool, plans := fixture.Explained(t, service.DB)
	me := person{server: serve(t.Context(), fixture.On(pool)), User: u}
	second, err := me.ListWallets(me.Ctx, &ledgerv1.ListWalletsRequest{})
	require.NoError(t, err)
	both := []string{second.GetWallets()[0].GetId(), second.GetWallets()[1].GetId()}
	wallet := []string{me.Wallet.String()}
	// Those nearbyRows and, when they are too few, all that match: a twentieth of the owner's.
	const examined = nearbyRows + 5000 + 100
	type list = listRequest
	for name, req := range me.lists(both) {
		for _, sort := range []string{newestFirst, oldestFirst, largestAmount, leastAmount} {
			t.Run(name+" by "+sort, func(t *testing.T) {
				req.Sort = &sort
				resp, err := me.ListTransactions(me.Ctx, req)
				require.NoError(t, err)
				plans.RequireCheap(t, examined, 5000)
				if !resp.GetPagination().GetHasMore() {
					return
				}
				req.Cursor = resp.GetPagination().GetNextCursor()
				_, err = me.ListTransactions(me.Ctx, req)
				require.NoError(t, err)
				plans.RequireCheap(t, examined, 5000)
				req.Cursor = ""
			})
		}
	}
	for _, short := range []string{"zz", "DM", "本", "a b", "-"} {
		t.Run("a search for "+short, func(t *testing.T) {
			_, err := me.ListTransactions(me.Ctx, &list{Q: &short})
			require.NoError(t, err)
			plans.RequireCheap(t, nearbyRows+scannedRows, 15_000)
		})
	}
	t.Run("a short search finds all rows page by page", me.findShort)
	plans.Reset(t)
	t.Run("totals", func(t *testing.T) { me.totals(t, plans, both) })
	t.Run("what is prepared", func(t *testing.T) {
		// From the sixth time on, Postgres may plan a prepared statement without looking at its
		// arguments.
		for range 6 {
			for _, req := range []*list{{}, {WalletId: wallet, Sort: new(largestAmount)}} {
				_, err := me.ListTransactions(me.Ctx, req)
				require.NoError(t, err)
				plans.RequireCheap(t, 5000, 5000)
			}
		}
	})
	t.Run("a page is planned for all owners at once", func(t *testing.T) {
		conn, err := me.DB.Acquire(me.Ctx)
		require.NoError(t, err)
		defer conn.Release()
		after := &position{Date: fixture.Today, ID: me.ID}
		for _, list := range []transactionList{
			{sort: newestFirst},
			{sort: newestFirst, after: after},
			{sort: leastAmount, after: after},
			{sort: oldestFirst, currency: "EUR"},
			{sort: largestAmount, kind: posting.Expense, substring: "groceries"},
			{
				sort: newestFirst, wallets: []uuid.UUID{me.Wallet},
				categories: []uuid.UUID{me.Category},
			},
		} {
			list.owner, list.limit = me.ID, 51
			for range 10 {
				_, err := walkTransactions(me.Ctx, conn, list)
				require.NoError(t, err)
			}
		}
		type row struct{ Anew int64 }
		r, err := pg.One[row](me.Ctx, conn, `
			SELECT coalesce(max(custom_plans), 0) AS anew
			FROM pg_prepared_statements
			WHERE statement LIKE '%LIMIT 51'`)
		require.NoError(t, err)
		// Postgres tries it five times before it compares.
		require.EqualValues(t, 5, r.Anew)
	})
	t.Run("details", func(t *testing.T) { me.details(t, service.DB, plans) })
}

// details requires that lists with the filters by payee and tags examine a limited number of rows.
// Only the oldest rows have no tags, so that a list of them cannot be filled with the nearby rows.
func (p person) details(t *testing.T, db *pgxpool.Pool, plans *fixture.Plans) {
	t.Helper()
	pgtest.Exec(t, db, `
		ALTER TABLE transactions DISABLE TRIGGER ALL;
		UPDATE transactions t
		SET import_id = CASE WHEN n > 95000 THEN '00000000-0000-0000-0000-00000000000a'::uuid END,
			external_id = 'bank ' || n,
			receipt_id = CASE WHEN n > 99900 THEN '00000000-0000-0000-0000-00000000000b'::uuid END,
			attachment_count = CASE WHEN n <= 1200 OR n > 99000 THEN 1 ELSE 0 END,
			payee = 'Payee ' || n % 20,
			tags = CASE WHEN n > 99000 THEN '{}' WHEN n % 1000 = 0
				THEN '{seldom,often}' ELSE '{often}' END::text[]
		FROM (
			SELECT id, row_number() OVER (ORDER BY date DESC) AS n
			FROM transactions
			WHERE owner_id = '`+p.ID.String()+`'
		) AS o
		WHERE t.id = o.id AND t.owner_id = '`+p.ID.String()+`';
		ALTER TABLE transactions ENABLE TRIGGER ALL`)
	pgtest.Exec(t, db, `VACUUM ANALYZE transactions`)
	type list = listRequest
	for name, req := range map[string]*list{
		"payee":                  {Payee: new("payee 7")},
		"unknown payee":          {Payee: new("nobody")},
		"short payee":            {Payee: new("ab")},
		"seldom tag":             {Tag: []string{"Seldom"}},
		"usual tag":              {Tag: []string{"often"}},
		"unknown tags":           {Tag: []string{"never", "not"}},
		"200 tags":               {Tag: append(manyTags(199), "seldom")},
		"untagged":               {Untagged: new(true)},
		"no payee":               {WithoutPayee: new(true)},
		"other payees":           {ExceptPayee: []string{"payee 7", ""}},
		"other categories":       {ExceptCategoryId: []string{p.Category.String()}},
		"other wallets":          {ExceptWalletId: []string{p.Wallet.String()}},
		"untagged of a category": {Untagged: new(true), CategoryId: []string{p.Category.String()}},
		"transfers":              {Type: new(posting.Transfer)},
		"tag and payee":          {Tag: []string{"seldom"}, Payee: new("payee 7")},
		"tag and unknown payee":  {Tag: []string{"often"}, Payee: new("nobody")},
		"external id":            {ExternalId: new("bank 98765")},
		"unknown external id":    {ExternalId: new("bank x")},
		"import":                 {ImportId: new("00000000-0000-0000-0000-00000000000a")},
		"unknown import":         {ImportId: new("00000000-0000-0000-0000-00000000000c")},
		"receipt":                {ReceiptId: new("00000000-0000-0000-0000-00000000000b")},
		"attachments":            {HasAttachments: new(true)},
		"old attachments":        {HasAttachments: new(true), To: new("2020-12-31")},
		"attachments and tag":    {HasAttachments: new(true), Tag: []string{"seldom"}},
		"no attachments":         {HasAttachments: new(false)},
		"import without any": {
			HasAttachments: new(false), ImportId: new("00000000-0000-0000-0000-00000000000a"),
		},
		"tag and wallet": {Tag: []string{"seldom"}, WalletId: []string{p.Wallet.String()}},
	} {
		for _, sort := range []string{newestFirst, largestAmount} {
			t.Run(name+" by "+sort, func(t *testing.T) {
				req.Sort = &sort
				plans.Reset(t)
				_, err := p.ListTransactions(p.Ctx, req)
				require.NoError(t, err)
				plans.RequireCheap(t, nearbyRows+scannedRows+100, 15_000)
			})
		}
		if name == "usual tag" {
			continue // The totals read all matching rows.
		}
		t.Run(name+" in total", func(t *testing.T) {
			total := proto.CloneOf(req)
			total.Sort, total.From, total.To = nil, nil, nil
			total.WalletId, total.CategoryId = nil, nil
			total.Include = []string{includeTotals}
			_, err := p.ListTransactions(p.Ctx, total)
			require.NoError(t, err)
			plans.RequireCheap(t, nearbyRows+scannedRows+totaledRows*5/4, 45_000)
		})
	}
	found, req := 0, &list{Untagged: new(true), Limit: new(int32(200))}
	for more := true; more; {
		resp, err := p.ListTransactions(p.Ctx, req)
		require.NoError(t, err)
		found += len(resp.GetTransactions())
		req.Cursor, more = resp.GetPagination().GetNextCursor(), resp.GetPagination().GetHasMore()
	}
	require.Equal(t, 1000, found)
}

// lists returns requests with each filter and with several. wallets are all wallets of p.
func (p person) lists(wallets []string) map[string]*listRequest {
	type list = listRequest
	wallet, category := []string{p.Wallet.String()}, []string{p.Category.String()}
	other := slices.DeleteFunc(slices.Clone(wallets), func(id string) bool {
		return id == wallet[0]
	})
	return map[string]*list{
		"everything":          {},
		"one wallet":          {WalletId: wallet},
		"both wallets":        {WalletId: wallets},
		"one category":        {CategoryId: category},
		"wallet and category": {WalletId: wallet, CategoryId: category},
		"expenses":            {Type: new(posting.Expense)},
		"income":              {Type: new(posting.Income)},
		"a usual currency":    {Currency: new("EUR")},
		"a seldom one":        {Currency: new("JPY")},
		"one that nobody has": {Currency: new("CHF")},
		"a month":             {From: new("2026-01-01"), To: new("2026-01-31")},
		"a quarter and a wallet": {
			From: new("2024-01-01"), To: new("2024-03-31"), WalletId: wallet,
		},
		"amounts":               {MinAmount: new("-150"), MaxAmount: new("-100")},
		"the largest":           {MinAmount: new("199.9")},
		"amounts of a category": {MinAmount: new("-150"), CategoryId: category},
		"a usual word":          {Q: new("groceries")},
		"a seldom one of text":  {Q: new("café 1234")},
		"a word that is not":    {Q: new("Zürich")},
		"a word and a wallet":   {Q: new("café"), WalletId: wallet},
		"a word of others":      {Q: new("rent"), WalletId: other},
		"a category of others":  {CategoryId: category, WalletId: other},
	}
}

// totals requires that the totals of each list read hardly more rows than they add up. PostgreSQL
// may sort somewhat more rows instead of reading an index in order.
func (p person) totals(t *testing.T, plans *fixture.Plans, wallets []string) {
	t.Helper()
	lists := p.lists(wallets)
	for _, short := range []string{"zz", "DM", "本"} {
		lists["a search for "+short] = &listRequest{Q: &short}
	}
	for name, req := range lists {
		t.Run(name, func(t *testing.T) {
			_, err := p.ListTransactions(p.Ctx, req)
			require.NoError(t, err)
			plans.Reset(t)
			l, problems := parseList(req)
			require.NoError(t, problems.Err())
			l.owner = p.ID
			_, err = totalTransactions(p.Ctx, p.DB, l)
			require.NoError(t, err)
			plans.RequireCheap(t, totaledRows*5/4, 25_000)
		})
	}
}

// findShort searches for a word of two letters that only rows far from each other have.
func (p person) findShort(t *testing.T) {
	pgtest.Exec(t, p.DB, `
		UPDATE transactions SET description = 'DM'
		WHERE owner_id = $1 AND description ~ ' (5|25000|25001|60000|99990)$'`, p.ID)
	req, found, pages := &listRequest{Q: new("dm"), Limit: new(int32(2))}, 0, 0
	for {
		resp, err := p.ListTransactions(p.Ctx, req)
		require.NoError(t, err)
		found, pages = found+len(resp.GetTransactions()), pages+1
		if !resp.GetPagination().GetHasMore() {
			break
		}
		req.Cursor = resp.GetPagination().GetNextCursor()
	}
	require.Equal(t, 5, found)
	require.LessOrEqual(t, pages, 100_000/scannedRows+5)
}
