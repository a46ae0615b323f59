package test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostileTexts have signs that files of other programs give a meaning.
var hostileTexts = []string{
	"Corner \"Shop\"", "=SUM(A1)", "'=1", "-1+2", "@x", "a, b; c", "two  spaces", "日本 銀行",
	"É\u200d", "it's", "", "", "100", "Transfer : Cash", "{\"a\":1}", "#tag",
}

// populate creates books with all that an export contains. The choices are the same in each run.
func (u *user) populate(t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	type account struct{ id, currency string }
	var wallets []account
	for _, object := range []object{
		{
			"name": "Cash", "currency": "EUR", "balance": json.Number("10.50"), "color": "#12ab9F",
			"icon": "🏦", "position": 3,
		},
		{
			"name": "Cash", "currency": "USD", "balance": json.Number("-5"), "position": 0,
			"openingDate": nil,
		},
		{
			"name": "=日本: 銀行; x", "currency": "JPY", "balance": json.Number("1000"),
			"openingDate": "2026-03-02", "kind": "savings",
		},
		{"name": "'@  old", "currency": "KWD", "balance": json.Number("-1.234"), "icon": "🪙"},
		{"name": "Unused", "currency": "CHF"},
	} {
		id := u.post("/api/v1/wallet", object).created("WALLET_CREATED").text("wallet.id")
		wallets = append(wallets, account{id, object["currency"].(string)})
	}
	u.patch("/api/v1/wallet/"+wallets[3].id, object{"archived": true}).ok("WALLET_UPDATED")
	var categories []string
	for _, c := range []object{
		{"name": "Food", "kind": "expense", "color": "#00ff00", "icon": "🍎"},
		{"name": "Salary", "kind": "income"},
		{"name": "=Fun: and, \"games\"", "kind": "both"},
		{"name": "two  spaces"},
		{"name": "Unused", "color": "#123456"},
	} {
		categories = append(categories, u.post("/api/v1/categories", c).created("CATEGORY_CREATED").
			text("category.id"))
	}
	transaction := func(index int) object {
		w := wallets[random.IntN(4)]
		body := object{
			"amount": 1 + random.IntN(9000), "currency": w.currency, "walletId": w.id,
			"categoryId": categories[random.IntN(4)], "type": pick([]string{"expense", "income"}),
			"date": fmt.Sprintf("2026-03-%02dT%02d:15:00.%03dZ", 1+random.IntN(28), random.IntN(24),
				random.IntN(1000)),
			"payee": pick(hostileTexts), "description": pick(hostileTexts),
			"notes": pick([]string{"", "one\n\ntwo", "=x", "\"quoted\", text"}),
			"tags":  [][]string{nil, {"Trip"}, {"Été 2026", "=x"}}[random.IntN(3)],
		}
		switch index % 5 {
		case 0:
			body["externalId"] = fmt.Sprintf("ofx:%d", index)
		case 1:
			body["currency"] = pick([]string{"EUR", "JPY"})
		case 2:
			delete(body, "categoryId")
			body["splits"] = []any{
				object{"categoryId": categories[0], "amount": body["amount"].(int) +
					3, "description": pick(hostileTexts)},
				object{"categoryId": categories[random.IntN(4)], "amount": -3},
			}
		}
		return body
	}
	for i := range 50 {
		id := u.record(transaction(i))
		if i%3 == 0 {
			u.patch("/api/v1/transaction/"+id, object{"cleared": true}).ok("TRANSACTION_UPDATED")
		}
	}
	for i := range 12 {
		from, to := wallets[i%4], wallets[(i+1+i/4)%4]
		u.post("/api/v1/transfers", object{
			"fromWalletId": from.id, "toWalletId": to.id, "amount": 1 + random.IntN(500),
			"currency": from.currency, "toCurrency": to.currency,
			"toAmount": 1 + random.IntN(500), "date": fmt.Sprintf("2026-03-%02d", 1+i/3),
			"description": pick(hostileTexts), "tags": []string{"Trip"},
		}).created("TRANSFER_CREATED")
	}
	for i, w := range wallets[:4] {
		adjusted := u.post("/api/v1/wallet/"+w.id+"/adjustments", object{
			"date": fmt.Sprintf("2026-03-%02d", 5+i), "balance": 10000 + i, "description": "value",
		}).created("ADJUSTMENT_CREATED").text("transaction.id")
		if i%2 == 0 {
			u.patch("/api/v1/transaction/"+adjusted, object{"cleared": true}).
				ok("TRANSACTION_UPDATED")
		}
	}
	u.reconcile(wallets[0].id, "2026-03-12", "2026-03-24")
	u.reconcile(wallets[2].id, "2026-03-20", "2026-03-10")
	u.reconcile(wallets[3].id, "2026-03-20")
	// Legs that were matched may have different days, texts and external ids.
	out := with(expense(wallets[0].id, categories[0], "7"),
		object{"description": "out", "externalId": "camt:1"})
	in := with(expense(wallets[1].id, categories[0], "7"),
		object{"type": "income", "date": "2026-03-16", "description": "in"})
	u.post("/api/v1/transfers/match", object{
		"outTransactionId": u.record(out),
		"inTransactionId":  u.record(in),
	}).created("TRANSFER_CREATED")
}

// reconcile reconciles a wallet with statements of days, and changes a transaction that the last of
// them locks.
func (u *user) reconcile(wallet string, days ...string) {
	for i, day := range days {
		u.post("/api/v1/wallet/"+wallet+"/reconciliations?adjust=true",
			object{"date": day, "balance": 70 + i}).created("WALLET_RECONCILED")
	}
	locked := u.get("/api/v1/transaction?type=adjustment&cleared=true&walletId=" + wallet).
		text("transactions.0.id")
	u.patch("/api/v1/transaction/"+locked+"?unlock=true", object{"amount": 7}).
		ok("TRANSACTION_UPDATED")
}

// importExport imports an export into the account of u and waits until it is committed.
func (u *user) importExport(name string, file []byte) response {
	form, contentType := u.fileForm(name, string(file))
	path := "/api/v1/imports/" + u.call(http.MethodPost, "/api/v1/imports", form, "Content-Type",
		contentType).created("IMPORT_CREATED").text("import.id")
	require.Equal(u.t, http.StatusAccepted, u.post(path+"/commit", nil).status)
	u.awaitImport(path, "done")
	return u.get(path)
}

// books returns the lines of an export as JSON without what an import cannot restore: ids, times of
// writing, and the external ids that transactions without one get.
func books(t *testing.T, file []byte) (lines []string) {
	t.Helper()
	names, legs := map[any]string{}, map[any][]string{}
	var objects []object
	for line := range strings.Lines(string(file)) {
		var o object
		require.NoError(t, json.Unmarshal([]byte(line), &o))
		objects = append(objects, o)
		for kind, v := range o {
			one, _ := v.(object)
			switch kind {
			case "wallet":
				names[one["id"]] = fmt.Sprint(one["name"], one["currency"])
			case "category":
				names[one["id"]] = one["name"].(string)
			case "reconciliation":
				names[one["id"]] = fmt.Sprint(names[one["walletId"]], one["date"], one["balance"])
			case "transaction":
				if one["transferId"] != nil {
					legs[one["transferId"]] = append(legs[one["transferId"]],
						fmt.Sprint(one["date"], one["amount"], names[one["walletId"]]))
				}
			}
		}
	}
	for _, owned := range objects {
		locks, locked := owned["reconciliationId"]
		delete(owned, "reconciliationId")
		for _, v := range owned {
			one := v.(object)
			if id, ok := one["transferId"]; ok {
				slices.Sort(legs[id])
				one["transferId"] = legs[id]
			}
			for _, field := range []string{"walletId", "categoryId"} {
				if id, ok := one[field]; ok {
					one[field] = names[id]
				}
			}
			splits, _ := one["splits"].([]any)
			for _, s := range splits {
				s.(object)["categoryId"] = names[s.(object)["categoryId"]]
			}
			if id, ok := one["externalId"].(string); ok && strings.HasPrefix(id, "coffer:") {
				delete(one, "externalId")
			}
			for _, field := range []string{"id", "createdAt", "updatedAt", "importId"} {
				delete(one, field)
			}
		}
		if locked {
			owned["reconciliationId"] = names[locks]
		}
		text, err := json.Marshal(owned)
		require.NoError(t, err)
		lines = append(lines, string(text))
	}
	slices.Sort(lines)
	return lines
}

// TestExportRoundTrip imports exports into empty accounts.
func TestExportRoundTrip(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	me.populate(t)
	exported := func(u *user, query string) []byte {
		a := u.get("/api/v1/export/transactions?format=" + query)
		require.Equal(t, http.StatusOK, a.status, "%s", a.raw)
		return a.raw
	}
	original := exported(me, "json")

	t.Run("JSON", func(t *testing.T) {
		t.Parallel()
		moved := newUser(t)
		m := moved.importExport("books.jsonl", original)
		require.Equal(t, "coffer", m.text("import.format"))
		require.Equal(t, "85", m.text("import.counts.booked"))
		require.Equal(t, books(t, original), books(t, exported(moved, "json")))

		again := moved.importExport("books.jsonl", original)
		require.Equal(t, "85", again.text("import.counts.duplicate"))
		third := newUser(t)
		third.importExport("books.jsonl", exported(moved, "json"))
		require.Equal(t, books(t, original), books(t, exported(third, "json")))
	})
	t.Run("CSV", func(t *testing.T) {
		t.Parallel()
		for _, query := range []string{"csv", "csv&bom=true"} {
			moved := newUser(t)
			m := moved.importExport("books.csv", exported(me, query))
			require.Equal(t, "coffer", m.text("import.format"))
			require.Equal(t, "85", m.text("import.counts.booked"))
			require.Equal(t, rowsWithoutIDs(t, exported(me, "csv")),
				rowsWithoutIDs(t, exported(moved, "csv")))
		}
	})
}

// rowsWithoutIDs returns the sorted rows of an export as CSV without ids.
func rowsWithoutIDs(t *testing.T, file []byte) []string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(string(file))).ReadAll()
	require.NoError(t, err)
	var lines []string
	for _, row := range rows {
		if strings.HasPrefix(row[12], "coffer:") {
			row[12] = ""
		}
		lines = append(lines, strings.Join(append(row[1:11], row[12]), "|"))
	}
	slices.Sort(lines)
	return lines
}
