package imports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

func TestUndoImport(t *testing.T) {
	t.Parallel()
	t.Run("leaves the database as it was before the import", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		p.enter(t, "-850", "Landlord rent", 27)
		before := s.stored(t)
		m := p.commit(t, p.mustUpload(t, statementFile))
		require.NotEqual(t, before, s.stored(t))
		m = p.undo(t, m, false)
		require.Equal(t, staging.Undone, m.GetStatus())
		require.EqualValues(t, 3, m.GetCounts().GetUndone())
		require.Zero(t, m.GetCounts().GetBooked())
		require.Equal(t, before, s.stored(t))
		s.RequireConsistent(t)
		resp, err := p.UndoImport(p.Ctx, &ledgerv1.UndoImportRequest{Id: m.GetId()})
		require.NoError(t, err)
		require.Equal(t, codeFetched, resp.GetCode())
	})
	t.Run("deletes the wallets, categories, transfers and tags of the import", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		pgtest.Exec(t, s.DB,
			`INSERT INTO tags (owner_id, key, name, created_at) VALUES ($1, 'home', 'Home', now())`,
			p.ID)
		before := s.stored(t)
		m := p.commit(t, p.uploadExport(t, strings.Replace(exported, `"categoryId":"c1"`,
			`"categoryId":"c1","tags":["Trip","home"]`, 1)))
		require.EqualValues(t, 6, m.GetCounts().GetBooked())
		require.Contains(t, s.stored(t), "Trip")
		m = p.undo(t, m, false)
		require.EqualValues(t, 6, m.GetCounts().GetUndone())
		require.Equal(t, before, s.stored(t))
		s.RequireConsistent(t)
	})
	t.Run("keeps changed transactions unless it is forced", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		for _, force := range []bool{false, true} {
			m := p.commit(t, p.mustUpload(t,
				strings.ReplaceAll(statementFile, "Bakery", fmt.Sprint("Bakery", force))))
			pgtest.Exec(t, s.DB, `UPDATE transactions SET version = 2 WHERE id = $1`,
				p.rows(t, m)[0].GetTransactionId())
			m = p.undo(t, m, force)
			require.Equal(t, map[bool]int32{false: 1, true: 0}[force], m.GetCounts().GetSkipped())
			s.RequireConsistent(t)
			if !force {
				require.Equal(t, "-3.50", p.balance(t))
			}
		}
		require.Equal(t, "-3.50", p.balance(t))
	})
}
