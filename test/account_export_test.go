package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/clients/go/archive"
)

const accountExport = "/api/v1/account/export"

// exported downloads and verifies the archive of the account.
func (u *user) exported(t *testing.T) *archive.Archive {
	t.Helper()
	file := u.get(accountExport)
	require.Equal(t, http.StatusOK, file.status, "%s", file.raw)
	require.Equal(t, "application/zip", file.header.Get("Content-Type"))
	require.Regexp(t, `^attachment; filename=coffer-account-\d{4}-\d\d-\d\d\.zip$`,
		file.header.Get("Content-Disposition"))
	opened, err := archive.Open(bytes.NewReader(file.raw), int64(len(file.raw)))
	require.NoError(t, err)
	return opened
}

// TestExportAccount compares each file of an archive with the responses of the API.
func TestExportAccount(t *testing.T) {
	t.Parallel()
	me, friend := newUser(t), newUser(t)
	me.fillAccount(t, friend)
	a := me.exported(t)
	lists := map[string][2]string{
		"wallets.jsonl":          {"/api/v1/wallet", "wallets"},
		"categories.jsonl":       {"/api/v1/categories", "categories"},
		"tags.jsonl":             {"/api/v1/tags", "tags"},
		"rules.jsonl":            {"/api/v1/rules", "rules"},
		"views.jsonl":            {"/api/v1/views", "views"},
		"transactions.jsonl":     {"/api/v1/transaction", "transactions"},
		"transfers.jsonl":        {"/api/v1/transfers", "transfers"},
		"receipts.jsonl":         {"/api/v1/receipts", "receipts"},
		"imports.jsonl":          {"/api/v1/imports", "imports"},
		"import-profiles.jsonl":  {"/api/v1/imports/profiles", "profiles"},
		"budgets.jsonl":          {"/api/v1/budgets", "budgets"},
		"goals.jsonl":            {"/api/v1/goals", "goals"},
		"invitations.jsonl":      {"/api/v1/invitations", "invitations"},
		"goal-invitations.jsonl": {"/api/v1/goals/invitations", "invitations"},
		"notifications.jsonl":    {"/api/v1/notifications", "notifications"},
		"webhooks.jsonl":         {"/api/v1/webhooks", "webhooks"},
		"tokens.jsonl":           {"/api/v1/auth/tokens", "tokens"},
		"sessions.jsonl":         {"/api/v1/auth/sessions", "sessions"},
		"factors.json":           {"/api/v1/auth/factors", "factors"},
		"user.json":              {"/api/v1/auth/me", "user"},
		"settings.json":          {"/api/v1/settings", "settings"},
	}
	for path, from := range lists {
		require.ElementsMatch(t, me.items(from[0], from[1]), rowsOf(t, a, path), path)
	}
	// Entries about shared budgets follow from events, so some may be later than the archive.
	audit := rowsOf(t, a, "audit.jsonl")
	require.Subset(t, me.items("/api/v1/auth/audit", "entries"), audit)
	require.Contains(t, strings.Join(audit, ""), "account_exported")
	budget := me.get("/api/v1/budgets").text("budgets.0.id")
	require.Equal(t, me.items("/api/v1/budgets/"+budget+"/members", "members"),
		rowsOf(t, a, "memberships.jsonl"))
	goal := me.get("/api/v1/goals").text("goals.0.id")
	require.Equal(t, me.items("/api/v1/goals/"+goal+"/assignments", "assignments"),
		rowsOf(t, a, "assignments.jsonl"))
	require.Equal(t, me.items("/api/v1/goals/"+goal+"/members", "members"),
		rowsOf(t, a, "goal-memberships.jsonl"))
	limit := me.items("/api/v1/budgets/"+budget+"/limits", "limits")[0]
	require.Equal(t, []string{fmt.Sprintf(`{"budgetId":%q,"limit":%s}`, budget, limit)},
		rowsOf(t, a, "limits.jsonl"))
	require.Equal(t, string(me.get("/api/v1/export/transactions?format=csv").raw),
		contentOf(t, a, "transactions.csv"))
	require.Equal(t, string(me.get("/api/v1/export/transactions?format=hledger").raw),
		contentOf(t, a, "coffer.journal"))

	attachment := rowsOf(t, a, "attachments.jsonl")[0]
	var file struct{ ID, Name string }
	require.NoError(t, json.Unmarshal([]byte(attachment), &file))
	attached := "attachments/" + file.ID + "-" + file.Name
	require.Equal(t, string(me.get("/api/v1/attachments/"+file.ID).raw), contentOf(t, a, attached))
	receipt := me.get("/api/v1/receipts").text("receipts.0.id")
	image := "receipts/" + receipt + "-1.jpg"
	require.Equal(t, string(me.get("/api/v1/receipts/"+receipt+"/image").raw),
		contentOf(t, a, image))

	known := []string{
		"memberships.jsonl", "limits.jsonl", "transactions.csv", "coffer.journal",
		"attachments.jsonl", "deliveries.jsonl", "audit.jsonl", "reconciliations.jsonl",
		"assignments.jsonl", "goal-memberships.jsonl", "passkeys.jsonl", "identities.jsonl",
		attached, image,
	}
	for _, f := range a.Files {
		_, compared := lists[f.Path]
		require.True(t, compared || slices.Contains(known, f.Path), "%s is not compared", f.Path)
	}
	require.Len(t, a.Files, len(lists)+len(known))
	for _, f := range friend.exported(t).Files {
		if f.Path == "transactions.jsonl" || f.Path == "webhooks.jsonl" {
			require.Zero(t, f.Rows, "no file has rows of another user")
		}
	}
}

// fillAccount creates rows of each kind. The friend is a member of the budget, and invites the user
// to another one.
func (u *user) fillAccount(t *testing.T, friend *user) {
	t.Helper()
	wallet, category := u.wallet("EUR", "10"), u.category("Food")
	spent := expense(wallet, category, "2.50")
	spent["tags"], spent["notes"] = []string{"Trip"}, "two\nlines"
	id := u.record(spent)
	u.attach(id, "=a/b.pdf", "%PDF-1.4 a file").created("ATTACHMENT_CREATED")
	u.post("/api/v1/transfers", object{
		"fromWalletId": wallet, "toWalletId": u.wallet("EUR", "0"), "amount": json.Number("3"),
		"date": "2026-03-14",
	}).created("TRANSFER_CREATED")
	u.upload("?keepImage=true", photograph(t, groceries), "walletId", wallet, "categoryId",
		category).created("RECEIPT_TRANSACTIONS_CREATED")
	u.importedFile("Bakery", wallet, category)
	u.post("/api/v1/rules", u.rule(category)).created("RULE_CREATED")
	u.post("/api/v1/views", aView("Food", "categoryId="+category)).created("VIEW_CREATED")
	goal := u.goal("Trip", "900")
	u.assign(goal, wallet, "50")
	u.shareGoal(goal, friend, "viewer")
	u.patch("/api/v1/settings", object{"weekStart": "sunday"}).ok("SETTINGS_UPDATED")
	u.invite(u.budget(wallet, category), friend, "viewer", "accepted")
	shared := friend.budget(friend.wallet("EUR", "0"), friend.category("Fun"))
	friend.post("/api/v1/budgets/"+shared+"/share", object{"email": u.email}).
		created("BUDGET_SHARED")
	friend.post("/api/v1/goals/"+friend.goal("Car", "9")+"/share", object{"email": u.email}).
		created("GOAL_SHARED")
	u.webhook("https://example.com/hook")
	u.newPersonalToken("read").created("TOKEN_CREATED")
}

// TestExportAccountAnonymous requires a signed-in user.
func TestExportAccountAnonymous(t *testing.T) {
	t.Parallel()
	(&user{t: t}).get(accountExport).fails(401, "UNAUTHORIZED")
}

// items returns the items of a list, or the only object of a response, as JSON.
func (u *user) items(path, field string) []string {
	var page map[string]json.RawMessage
	got := u.get(path)
	require.NoError(u.t, json.Unmarshal(got.raw, &page))
	var items []json.RawMessage
	if json.Unmarshal(page[field], &items) != nil {
		items = []json.RawMessage{page[field]}
	}
	require.NotEmpty(u.t, items, "%s has nothing to compare", path)
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = string(item)
	}
	return texts
}

func rowsOf(t *testing.T, a *archive.Archive, path string) (rows []string) {
	t.Helper()
	require.NoError(t, a.Rows(path, func(row json.RawMessage) error {
		rows = append(rows, strings.TrimSpace(string(row)))
		return nil
	}))
	return rows
}

func contentOf(t *testing.T, a *archive.Archive, path string) string {
	t.Helper()
	r, err := a.Read(path)
	require.NoError(t, err)
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return string(content)
}
