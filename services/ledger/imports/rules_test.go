package imports

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules"
)

// ruling returns the server of rules on the same schema.
func (p person) ruling() *rules.Rules {
	return rules.New(p.Service.Ledger, p.Reads, slog.New(slog.DiscardHandler))
}

// TestSuggestRulesOfImports suggests rules for the categories that a user corrects in the preview
// and after the commit.
func TestSuggestRulesOfImports(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for name, c := range map[string]struct {
		// previewed and committed are the rows whose categories the user changes.
		previewed, committed int
		// merged merges the category that all rows were given.
		merged bool
		want   []string
	}{
		"no correction":        {},
		"two corrections":      {previewed: 1, committed: 1},
		"in the preview":       {previewed: 3, want: []string{"Cinema Rex"}},
		"after the commit":     {committed: 3, want: []string{"Cinema Rex"}},
		"three in all":         {previewed: 1, committed: 2, want: []string{"Cinema Rex"}},
		"a merge is none":      {merged: true},
		"the row has the text": {previewed: 3, committed: 3, want: []string{"Cinema Rex"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, s)
			fun := s.MakeCategory(p.Ctx, t, "Fun").String()
			day := time.Now().Format(time.DateOnly)
			m := p.mustUpload(t,
				"Date,Payee,Amount,Currency\n"+strings.Repeat(day+",Cinema Rex,-9.50,EUR\n", 3))
			rows := p.rows(t, m)
			for _, r := range rows[:c.previewed] {
				_, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
					Id: m.GetId(), Rows: []*rowChange{{N: r.GetN(), CategoryId: &fun}},
				})
				require.NoError(t, err)
			}
			p.commit(t, m)
			rows = p.rows(t, m)
			for i, r := range rows[3-c.committed:] {
				// The payee of a transaction may be changed, too. Rules run on the row.
				pgtest.Exec(t, s.DB, `UPDATE transactions SET category_id = $2, payee = payee || $3, version = 2 WHERE id = $1`,
					r.GetTransactionId(), fun, fmt.Sprint(i))
			}
			if c.merged {
				_, err := s.DeleteCategory(p.Ctx,
					&ledgerv1.DeleteCategoryRequest{Id: p.Category.String(), ReassignTo: &fun})
				require.NoError(t, err)
			}
			resp, err := p.ruling().SuggestRules(p.Ctx, &ledgerv1.SuggestRulesRequest{})
			require.NoError(t, err)
			var got []string
			for _, r := range resp.GetSuggestions() {
				require.Equal(t, fun, r.GetActions()[0].GetValue())
				got = append(got, r.GetConditions()[0].GetValues()...)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestCreateImportRules imports rows that rules categorize, complete, transfer and skip.
func TestCreateImportRules(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	ruling := p.ruling()
	fun, bank := s.MakeCategory(p.Ctx, t, "Fun"), s.MakeWallet(p.Ctx, t, "Bank", "EUR")
	rule := func(payee string, actions ...*ledgerv1.RuleAction) string {
		resp, err := ruling.CreateRule(p.Ctx, &ledgerv1.CreateRuleRequest{
			Name: payee, Actions: actions, Conditions: []*ledgerv1.RuleCondition{{
				Field: "payee", Op: "contains", Values: []string{payee},
			}},
		})
		require.NoError(t, err)
		return resp.GetRule().GetId()
	}
	cinema := rule("cinema", &ledgerv1.RuleAction{Kind: "setCategory", Value: fun.String()},
		&ledgerv1.RuleAction{Kind: "addTag", Value: "Film"},
		&ledgerv1.RuleAction{Kind: "setPayee", Value: "Rex"})
	rule("savings", &ledgerv1.RuleAction{Kind: "transferTo", Value: bank.String()})
	rule("fee", &ledgerv1.RuleAction{Kind: "skip"})

	m := p.mustUpload(t, strings.Join([]string{
		"Date,Payee,Amount,Currency", "2026-02-03,CINEMA Rex 17,-9.50,EUR",
		"2026-02-04,Savings,-100.00,EUR", "2026-02-05,Fee,-1.00,EUR",
		"2026-02-06,Bakery,-3.00,EUR", "",
	}, "\n"))
	staged := p.rows(t, m)
	require.Equal(t, fun.String(), staged[0].GetCategoryId())
	require.Equal(t, "rule:"+cinema, staged[0].GetCategoryFrom())
	require.Equal(t, "Rex", staged[0].GetPayee())
	require.Equal(t, []string{"Film"}, staged[0].GetTags())
	require.Equal(t, bank.String(), staged[1].GetTransferWalletId())
	require.Equal(t, staging.Skipped, staged[2].GetStatus())
	require.Equal(t, staging.FromDefault, staged[3].GetCategoryFrom())

	require.EqualValues(t, 3, p.commit(t, m).GetCounts().GetBooked())
	got, err := ruling.GetRule(p.Ctx, &ledgerv1.GetRuleRequest{Id: cinema})
	require.NoError(t, err)
	require.EqualValues(t, 1, got.GetRule().GetAppliedCount())
	require.Empty(t, s.Differences(t)[p.ID])
}

// TestCommitImportFillsMatched commits rows that match transactions of the user. The transactions
// get the texts that they lack.
func TestCommitImportFillsMatched(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	ruling := rules.New(s.Service.Ledger, s.Reads, slog.New(slog.DiscardHandler))
	_, err := ruling.CreateRule(p.Ctx, &ledgerv1.CreateRuleRequest{
		Name: "Cinema", Conditions: []*ledgerv1.RuleCondition{{
			Field: "payee", Op: "contains", Values: []string{"cinema"},
		}},
		Actions: []*ledgerv1.RuleAction{
			{Kind: "setPayee", Value: "Rex"}, {Kind: "setNotes", Value: "With Ada"},
		},
	})
	require.NoError(t, err)
	at := func(day int) time.Time { return time.Date(2026, 2, day, 20, 0, 0, 0, time.UTC) }
	entered := []posting.Transaction{
		{
			WalletID: p.Wallet, CategoryID: &p.Category, AmountMinor: -950, Currency: "EUR",
			Date: at(3), Description: "Cinema film",
		},
		{
			WalletID: p.Wallet, CategoryID: &p.Category, AmountMinor: -700, Currency: "EUR",
			Date: at(4), Payee: "Kiosk", Notes: "Weekly",
		},
		{
			WalletID: p.Wallet, CategoryID: &p.Category, AmountMinor: -300, Currency: "EUR",
			Date: at(5),
		},
	}
	p.Record(p.Ctx, t, entered...)
	texts := func() (texts []string) {
		for _, e := range entered {
			stored := s.Transaction(t, e.ID)
			texts = append(texts, stored.Payee+"|"+stored.Notes+"|"+stored.Description)
		}
		return texts
	}
	before := s.stored(t)
	m := p.mustUpload(t,
		"Date,Payee,Amount,Currency\n2026-02-03,CINEMA Rex 17,-9.50,EUR\n2026-02-04,Cinema kiosk,-7.00,EUR\n2026-02-05,Bakery,-3.00,EUR\n")
	require.EqualValues(t, 3, m.GetCounts().GetMatched())
	m = p.commit(t, m)
	require.Equal(t, []string{"Rex|With Ada|Cinema film", "Kiosk|Weekly|", "Bakery||"}, texts())
	// A text that the user has changed since stays.
	pgtest.Exec(t, s.DB, `UPDATE transactions SET payee = 'My baker' WHERE id = $1`,
		entered[2].ID)
	p.undo(t, m, false)
	require.Equal(t, []string{"||Cinema film", "Kiosk|Weekly|", "My baker||"}, texts())
	pgtest.Exec(t, s.DB, `UPDATE transactions SET payee = '' WHERE id = $1`,
		entered[2].ID)
	require.Equal(t, before, s.stored(t))
}

// TestCreateImportSteps uploads and changes an import under rules that are older than the limit of
// their patterns.
func TestCreateImportSteps(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	file := "Date,Payee,Description,Amount,Currency\n2026-01-31,Shop," + strings.Repeat("a", 1000) +
		",-9.50,EUR\n"
	m := p.mustUpload(t, file)
	_, err := p.ruling().CreateRule(p.Ctx, &ledgerv1.CreateRuleRequest{
		Name: "patterns", Conditions: []*ledgerv1.RuleCondition{{
			Field: "text", Op: "matches", Values: []string{`(?:[^q]?){130}Q0$`},
		}},
		Actions: []*ledgerv1.RuleAction{{Kind: "skip"}},
	})
	require.NoError(t, err)
	pgtest.Exec(t, s.DB, `
		UPDATE rules
		SET match_any = true,
			conditions = (SELECT jsonb_agg(c)
			FROM (SELECT conditions->0 AS c FROM generate_series(1, 10)) AS copies)
		WHERE owner_id = $1`, p.ID)
	for name, do := range map[string]func() error{
		"upload": func() error {
			_, err := p.upload(&ledgerv1.CreateImportRequest{}, file)
			return err
		},
		"a change of the import": func() error {
			_, err := p.UpdateImport(p.Ctx,
				&ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: m.GetMapping()})
			return err
		},
		"a change of a row": func() error {
			_, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
				Id: m.GetId(), Rows: []*rowChange{{N: p.rows(t, m)[0].GetN(), Payee: new("Other")}},
			})
			return err
		},
	} {
		fixture.RequireReason(t, do(), codes.AlreadyExists, "LIMIT_REACHED")
		require.Len(t, p.rows(t, m), 1, name)
	}
}
