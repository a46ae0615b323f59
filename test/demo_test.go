package test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/test/demo"
)

// TestDemo fills an account with a few weeks, as make demo does with a year.
func TestDemo(t *testing.T) {
	t.Parallel()
	options := demo.Options{
		URL: baseURL, Email: "ada-" + uuid.NewString() + "@example.com",
		PartnerEmail: "sam-" + uuid.NewString() + "@example.com",
		Days:         45, Receipts: 1, Seed: 1, Now: time.Now().UTC(),
	}
	created, err := demo.Fill(t.Context(), options)
	require.NoError(t, err)
	me := &user{t: t, email: options.Email, password: demo.Password}
	me.signIn()
	require.Len(t, me.get("/api/v1/wallet?limit=200").list("wallets"), created.Wallets)
	require.Len(t, me.get("/api/v1/categories?limit=200").list("categories"), created.Categories)
	require.Len(t, me.get("/api/v1/budgets").list("budgets"), created.Budgets)
	require.Len(t, me.get("/api/v1/transfers?limit=200").list("transfers"), created.Transfers)
	require.Len(t, me.get("/api/v1/goals").list("goals"), created.Goals)
	require.Len(t, me.get("/api/v1/rules").list("rules"), created.Rules)
	imports := me.get("/api/v1/imports").ok("IMPORTS_FETCHED")
	require.Equal(t, []string{"preview", "done"},
		imports.texts("imports.0.status", "imports.1.status"))
	require.Equal(t, "2", imports.text("imports.0.counts.duplicate"))
	require.NotEqual(t, "0", imports.text("imports.0.counts.matched"))
	require.Equal(t, "1", imports.text("imports.0.counts.invalid"))
	require.NotEmpty(t, me.get("/api/v1/tags").list("tags"))
	require.Len(t, me.get("/api/v1/webhooks").list("webhooks"), 2)
	for _, w := range me.get("/api/v1/wallet?limit=200").list("wallets") {
		if wallet := w.(object); wallet["name"] == "Savings" {
			require.Equal(t, json.Number("12641.80"), wallet["balance"],
				"the opening balance follows from the final one")
		}
	}
	require.Len(t, me.get("/api/v1/invitations").list("invitations"), 1)
	from := options.Now.AddDate(0, 0, -60).Format(time.DateOnly)
	to := options.Now.Format(time.DateOnly)
	summary := me.get("/api/v1/dashboard/summary?from=" + from + "&to=" + to).
		ok("DASHBOARD_SUMMARY_FETCHED")
	require.Len(t, summary.list("summary.totals"), 2, "two currencies")
	require.NotEmpty(t, me.get("/api/v1/transaction?q=CORNER%20BAKERY").body,
		"the receipts have been read")
	shared := me.get("/api/v1/budgets").list("budgets")
	require.Condition(t, func() bool {
		for _, b := range shared {
			path := "/api/v1/budgets/" + b.(object)["id"].(string) + "/members"
			if members, _ := me.get(path).body["members"].([]any); len(members) == 1 {
				return members[0].(object)["status"] == "accepted"
			}
		}
		return false
	})
	require.Eventually(t, func() bool {
		return len(me.get("/api/v1/notifications").list("notifications")) > 0
	}, time.Minute, 100*time.Millisecond)

	_, err = demo.Fill(t.Context(), options)
	require.ErrorIs(t, err, demo.ErrExists)
	require.Len(t, me.get("/api/v1/wallet?limit=200").list("wallets"), created.Wallets)
}
