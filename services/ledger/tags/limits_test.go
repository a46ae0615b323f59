package tags

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/reads"
)

// tagMany creates a tag with count transactions.
func (p *person) tagMany(t *testing.T, count int) {
	t.Helper()
	pgtest.Exec(t, p.DB, `
		INSERT INTO tags (owner_id, key, name, created_at) VALUES ($1, 'many', 'Many', now())`,
		p.ID)
	pgtest.Exec(t, p.DB, `
		INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor,
			amount_e4, description, date, version, created_at, updated_at, tags)
		SELECT gen_random_uuid(), $1, $2, $3, 'EUR', -1, -100, '', now(), 1, now(), now(), '{many}'
		FROM generate_series(1, $4)`,
		p.ID, p.Wallet, p.Category, count)
}

// TestUpdateTagMaximum renames and deletes a tag of the maximum number of transactions. Each of
// them gets the number of the write.
func TestUpdateTagMaximum(t *testing.T) {
	t.Parallel()
	me := setup(t)
	me.tagMany(t, maxChanged)
	requireNumbered := func() {
		rows := pgtest.Value[int](t, me.DB, `
			SELECT count(*)
			FROM transactions JOIN owners USING (owner_id, seq)
			WHERE owner_id = $1`, me.ID)
		require.Equal(t, maxChanged, rows)
	}
	_, err := me.UpdateTag(me.Ctx, &ledgerv1.UpdateTagRequest{Tag: "many", Name: new("Lots")})
	require.NoError(t, err)
	requireNumbered()
	me.requireTags(t, &ledgerv1.Tag{Name: "Lots", TransactionCount: maxChanged})
	_, err = me.DeleteTag(me.Ctx, &ledgerv1.DeleteTagRequest{Tag: "lots"})
	require.NoError(t, err)
	requireNumbered()
	me.requireTags(t)
}

// TestUpdateTagUnderLoad renames a tag forth and back while transactions with it are created and
// edited. Each of these has the tag in the end, under one of its names, and each key of a
// transaction has a row.
func TestUpdateTagUnderLoad(t *testing.T) {
	t.Parallel()
	me := setup(t)
	edited := me.tagged(t, "one").GetId()
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids := []string{edited}
	for range 4 {
		wg.Go(func() {
			for range 10 {
				id := me.tagged(t, "one", "kept").GetId()
				mu.Lock()
				ids = append(ids, id)
				mu.Unlock()
				_, err := me.UpdateTransaction(me.Ctx, &ledgerv1.UpdateTransactionRequest{
					Id: edited, Tags: &ledgerv1.Tags{Values: []string{"ONE"}},
				})
				require.NoError(t, err)
			}
		})
	}
	wg.Go(func() {
		for i := range 20 {
			names := []string{"one", "two"}
			_, err := me.UpdateTag(me.Ctx,
				&ledgerv1.UpdateTagRequest{Tag: names[i%2], Name: &names[1-i%2], Merge: new(true)})
			if err != nil {
				fixture.RequireReason(t, err, codes.NotFound, "TAG_NOT_FOUND")
			}
		}
	})
	wg.Wait()
	for _, id := range ids {
		got := me.tagsOf(t, id)
		require.Contains(t, []string{"one", "ONE", "two"}, got[0])
		require.Equal(t, id != edited, len(got) == 2, got)
	}
	missing := pgtest.Value[int](t, me.DB, `
		SELECT count(*)
		FROM transactions x, unnest(x.tags) AS u (key)
		LEFT JOIN tags t ON t.owner_id = $1 AND t.key = u.key
		WHERE t.key IS NULL`, me.ID)
	require.Zero(t, missing)
	me.RequireConsistent(t)
}

// TestTagReadLimit requires that the requests that count the transactions of tags wait for other
// expensive reads of the user.
func TestTagReadLimit(t *testing.T) {
	t.Parallel()
	me := setup(t)
	me.tagged(t, "a")
	me.Server.Reads = reads.NewGates(1, 0)
	leave, err := me.Server.Reads.Enter(t.Context(), me.ID)
	require.NoError(t, err)
	for name, do := range map[string]func() error{
		"ListTags": func() error {
			_, err := me.ListTags(me.Ctx, &ledgerv1.ListTagsRequest{})
			return err
		},
		"GetTag": func() error {
			_, err := me.GetTag(me.Ctx, &ledgerv1.GetTagRequest{Tag: "a"})
			return err
		},
		"UpdateTag": func() error {
			_, err := me.UpdateTag(me.Ctx, &ledgerv1.UpdateTagRequest{Tag: "a", Name: new("b")})
			return err
		},
		"DeleteTag": func() error {
			_, err := me.DeleteTag(me.Ctx, &ledgerv1.DeleteTagRequest{Tag: "a"})
			return err
		},
	} {
		e := fixture.RequireReason(t, do(), codes.ResourceExhausted, "RATE_LIMITED")
		require.Positive(t, e.RetryAfter, name)
	}
	leave()
	require.Len(t, me.list(t), 1)
}
