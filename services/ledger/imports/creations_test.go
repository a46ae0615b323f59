package imports

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// stageCreating uploads a file whose commit creates wallets and categories. Each category has a
// row.
func (p person) stageCreating(t *testing.T, wallets, categories int) *ledgerv1.Import {
	t.Helper()
	var b strings.Builder
	b.WriteString("Date;Account;Payee;Amount;Currency;Category\n")
	for i := range categories {
		fmt.Fprintf(&b, "2026-02-03;Account %d;Shop;-%d.50;EUR;Category %d\n", i%wallets, i+1, i)
	}
	resp, err := p.upload(&ledgerv1.CreateImportRequest{}, b.String())
	require.NoError(t, err)
	m := p.update(t, &ledgerv1.UpdateImportRequest{
		Id: resp.GetImport().GetId(), Accounts: createAll(resp.GetImport()),
	})
	require.Len(t, m.GetAccounts(), wallets)
	require.Len(t, m.GetCategories(), categories)
	return m
}

// owned returns the numbers of the user's wallets and categories.
func (p person) owned(t testing.TB) (wallets, categories int) {
	t.Helper()
	require.NoError(t, p.DB.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM wallets WHERE owner_id = $1),
			(SELECT count(*) FROM categories WHERE owner_id = $1)`,
		p.ID).
		Scan(&wallets, &categories))
	return wallets, categories
}

// killWhile kills all replicas up to three times, each time when the number of the user's wallets
// and categories has changed while the job of an import runs. It returns the import when the job
// has ended.
func (p person) killWhile(t *testing.T, m *ledgerv1.Import, workers []*exec.Cmd) *ledgerv1.Import {
	t.Helper()
	count := func() int {
		wallets, categories := p.owned(t)
		return wallets + categories
	}
	working := func() bool {
		m = p.get(t, m)
		return slices.Contains(unfinished, m.GetStatus())
	}
	kills := 0
	for before := count(); working(); {
		now := count()
		if now == before || kills == 3 {
			continue
		}
		for i := range workers {
			require.NoError(t, workers[i].Process.Kill())
			_ = workers[i].Wait()
			workers[i] = p.startWorker(t)
		}
		kills++
		before = count()
	}
	require.Positive(t, kills, "the job has ended before the first kill")
	return m
}

// TestUndoImportKilled kills the replicas while a commit creates wallets and categories, and while
// the undo deletes them.
func TestUndoImportKilled(t *testing.T) {
	t.Parallel()
	const newWallets, newCategories = 20, 400
	s := setup(t)
	p := newPerson(t, s)
	wallets, categories := p.owned(t)
	m := p.stageCreating(t, newWallets, newCategories)
	workers := []*exec.Cmd{s.startWorker(t), s.startWorker(t)}

	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	m = p.killWhile(t, m, workers)
	require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
	require.EqualValues(t, newCategories, m.GetCounts().GetBooked())
	nowWallets, nowCategories := p.owned(t)
	require.Equal(t, []int{wallets + newWallets, categories + newCategories},
		[]int{nowWallets, nowCategories})

	_, err = p.UndoImport(p.Ctx, &ledgerv1.UndoImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	m = p.killWhile(t, m, workers)
	require.Equal(t, staging.Undone, m.GetStatus(), m.GetProgress().GetProblem())
	nowWallets, nowCategories = p.owned(t)
	require.Equal(t, []int{wallets, categories}, []int{nowWallets, nowCategories},
		"the undo has left wallets or categories")
	s.RequireConsistent(t)
}

func TestUndoImportCreations(t *testing.T) {
	t.Parallel()
	s := setup(t)
	undo := func(t *testing.T, p person, m *ledgerv1.Import, code string) {
		t.Helper()
		resp, err := p.UndoImport(p.Ctx, &ledgerv1.UndoImportRequest{Id: m.GetId()})
		require.NoError(t, err)
		require.Equal(t, code, resp.GetCode())
		require.Equal(t, staging.Undone, p.finish(t, m).GetStatus())
	}
	t.Run("another undo deletes what was in use before", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		_, before := p.owned(t)
		m := p.commit(t, p.stageCreating(t, 3, 3))
		category := m.GetCategories()[1].GetCategoryId()
		rule, err := p.ruling().CreateRule(p.Ctx, &ledgerv1.CreateRuleRequest{
			Name: "Shop", Conditions: []*ledgerv1.RuleCondition{{
				Field: "payee", Op: "contains", Values: []string{"Shop"},
			}},
			Actions: []*ledgerv1.RuleAction{{Kind: "setCategory", Value: category}},
		})
		require.NoError(t, err)
		undo(t, p, m, codeUndoStarted)
		_, after := p.owned(t)
		require.Equal(t, before+1, after)

		_, err = p.ruling().
			DeleteRule(p.Ctx, &ledgerv1.DeleteRuleRequest{Id: rule.GetRule().GetId()})
		require.NoError(t, err)
		undo(t, p, m, codeUndoStarted)
		_, after = p.owned(t)
		require.Equal(t, before, after)
		undo(t, p, m, codeFetched)
	})
	t.Run("keeps the target of a merge and categories that the user created", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		wallets, before := p.owned(t)
		m := p.stageCreating(t, 3, 3)
		p.newCategory(t, "category 0")
		m = p.commit(t, m)
		require.False(t, m.GetCategories()[0].GetCreate())
		target := p.newCategory(t, "Target")
		_, err := p.DeleteCategory(p.Ctx, &ledgerv1.DeleteCategoryRequest{
			Id: m.GetCategories()[1].GetCategoryId(), ReassignTo: &target,
		})
		require.NoError(t, err)
		require.Equal(t, target, p.get(t, m).GetCategories()[1].GetCategoryId())
		_, err = p.UndoImport(p.Ctx, &ledgerv1.UndoImportRequest{Id: m.GetId(), Force: true})
		require.NoError(t, err)
		require.Equal(t, staging.Undone, p.finish(t, m).GetStatus())
		nowWallets, after := p.owned(t)
		require.Equal(t, []int{wallets, before + 2}, []int{nowWallets, after})
		undo(t, p, m, codeFetched)
	})
}
