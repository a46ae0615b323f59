package receipts

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

// rule creates a rule of a shopper with a condition on the description.
func (p shopper) rule(
	t *testing.T, description string, change func(*ledgerv1.CreateRuleRequest),
	actions ...*ledgerv1.RuleAction,
) string {
	t.Helper()
	req := &ledgerv1.CreateRuleRequest{
		Name: description,
		Conditions: []*ledgerv1.RuleCondition{{
			Field: matching.Description, Op: matching.Is, Values: []string{description},
		}},
		Actions: actions,
	}
	change(req)
	resp, err := rules.New(p.Service.Ledger, p.Service.Reads, slog.New(slog.DiscardHandler)).
		CreateRule(p.Ctx, req)
	require.NoError(t, err)
	return resp.GetRule().GetId()
}

// unchanged leaves a rule as it is.
func unchanged(*ledgerv1.CreateRuleRequest) {}

// setsCategory returns an action.
func setsCategory(id uuid.UUID) *ledgerv1.RuleAction {
	return &ledgerv1.RuleAction{Kind: matching.SetCategory, Value: id.String()}
}

// byAmount returns the transactions of a response by their amounts.
func byAmount(
	resp *ledgerv1.CreateTransactionsFromReceiptResponse,
) map[string]*ledgerv1.Transaction {
	out := map[string]*ledgerv1.Transaction{}
	for _, tr := range resp.GetTransactions() {
		out[tr.GetAmount()] = tr
	}
	return out
}

func TestCreateTransactionsFromReceiptRunsRules(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	drinks, other := me.MakeCategory(me.Ctx, t, "Drinks"), me.MakeCategory(me.Ctx, t, "Other")
	first := me.rule(t, "milk", unchanged, setsCategory(drinks), &ledgerv1.RuleAction{
		Kind: matching.AddTag, Value: "Fresh",
	},
		&ledgerv1.RuleAction{Kind: matching.SetPayee, Value: "Corner"},
		&ledgerv1.RuleAction{Kind: matching.SetDescription, Value: "Whole milk"},
		&ledgerv1.RuleAction{Kind: matching.SetNotes, Value: "a rule"})
	me.rule(t, "Whole milk", unchanged, setsCategory(other))
	me.rule(t, "Bread", unchanged, &ledgerv1.RuleAction{Kind: matching.Skip})
	me.rule(t, "Tax", unchanged, &ledgerv1.RuleAction{
		Kind: matching.TransferTo, Value: me.MakeWallet(me.Ctx, t, "Bank", "USD").String(),
	})
	me.rule(t, "Bread", func(r *ledgerv1.CreateRuleRequest) {
		r.On = []string{rules.OnImport}
	}, setsCategory(other))
	me.rule(t, "Bread", func(r *ledgerv1.CreateRuleRequest) {
		r.Enabled = new(false)
	}, setsCategory(other))

	dry := byAmount(me.upload(t, func(req *form) { req.DryRun = true }))
	resp := me.upload(t, asItIs)
	require.Len(t, resp.GetTransactions(), 4)
	for amount, tr := range byAmount(resp) {
		want := []string{me.Category.String(), "Corner Shop", ""}
		if amount == "-3.00" {
			want = []string{drinks.String(), "Corner", "a rule"}
			require.Equal(t, "Whole milk", tr.GetDescription())
			require.Equal(t, []string{"Fresh"}, tr.GetTags())
		}
		require.Equal(t, want, []string{tr.GetCategoryId(), tr.GetPayee(), tr.GetNotes()}, amount)
		require.Equal(t, me.Wallet.String(), tr.GetWalletId())
		require.Empty(t, tr.GetTransferId())
		preview := proto.CloneOf(tr)
		preview.Id, preview.CreatedAt, preview.UpdatedAt, preview.ReceiptId = "", "", "", nil
		require.True(t, proto.Equal(preview, dry[amount]), dry[amount])
	}
	got, err := rules.New(me.Service.Ledger, me.Service.Reads,
		slog.New(slog.DiscardHandler)).GetRule(me.Ctx, &ledgerv1.GetRuleRequest{Id: first})
	require.NoError(t, err)
	require.EqualValues(t, 1, got.GetRule().GetAppliedCount())
	me.RequireConsistent(t)

	off := byAmount(me.upload(t, func(req *form) { req.Rules = new(false) }))["-3.00"]
	require.Equal(t, []string{"Milk", "Corner Shop", me.Category.String()},
		[]string{off.GetDescription(), off.GetPayee(), off.GetCategoryId()})
	require.Empty(t, off.GetTags())
}

// TestCreateTransactionsFromReceiptCorrectedCategory requires that the category of a corrected line
// takes precedence over a rule.
func TestCreateTransactionsFromReceiptCorrectedCategory(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	ruled, chosen := me.MakeCategory(me.Ctx, t, "Ruled"), me.MakeCategory(me.Ctx, t, "Chosen")
	me.rule(t, "Milk", unchanged, setsCategory(ruled),
		&ledgerv1.RuleAction{Kind: matching.SetNotes, Value: "a rule"})
	me.rule(t, "Bread", unchanged, setsCategory(ruled))
	resp := byAmount(me.upload(t, func(req *form) {
		lines := &ledgerv1.CorrectedLines{Values: []*ledgerv1.CorrectedLine{
			{Description: "Milk", Amount: "3.00", CategoryId: new(chosen.String())},
			{Description: "Bread", Amount: "1.50"},
		}}
		req.Corrections = &ledgerv1.ReceiptCorrections{Lines: lines}
	}))
	require.Equal(t, chosen.String(), resp["-3.00"].GetCategoryId())
	require.Equal(t, "a rule", resp["-3.00"].GetNotes())
	require.Equal(t, ruled.String(), resp["-1.50"].GetCategoryId())
	require.Equal(t, me.Category.String(), resp["-0.40"].GetCategoryId())
}

// TestCreateTransactionsFromReceiptSteps splits a receipt under rules that are older than the limit
// of their patterns. Without rules it works.
func TestCreateTransactionsFromReceiptSteps(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	me.rule(t, "milk", unchanged, &ledgerv1.RuleAction{Kind: matching.SetNotes, Value: "seen"})
	pgtest.Exec(t, me.DB, `
		UPDATE rules
		SET conditions = (
			SELECT jsonb_agg(jsonb_build_object('field', 'text', 'op', 'matches', 'not', true,
				'values', ARRAY['(?:[^q]?){130}Q0$']))
			FROM generate_series(1, 1000))
		WHERE owner_id = $1`, me.ID)
	me.refusesUpload(t, me.request(), codes.AlreadyExists, "LIMIT_REACHED")
	me.upload(t, func(req *form) { req.Rules = new(false) })
}
