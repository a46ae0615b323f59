package test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// worstRequests has the requests to operations whose cost depends on more than the limits in the
// document, and those that need a resource in a certain state, which they create before the
// measurement.
var worstRequests = map[string]func(c *costRun) []worstRequest{
	"suggestCategories": func(c *costRun) []worstRequest {
		items := slices.Repeat([]any{object{"description": longText, "payee": longText[:200]}}, 100)
		return []worstRequest{{what: "patterns", code: "LIMIT_REACHED", send: func() response {
			return c.u.post("/api/v1/suggestions", object{"items": items})
		}}}
	},
	"applyRule": func(c *costRun) []worstRequest {
		return one("preview of patterns", func() response {
			return c.u.post("/api/v1/rules/"+c.patterns+"/apply", object{"dryRun": true})
		})
	},
	"createRule": func(c *costRun) []worstRequest {
		return one("500 values", func() response { return c.u.post("/api/v1/rules", c.longRule()) })
	},
	"updateRule": func(c *costRun) []worstRequest {
		path := "/api/v1/rules/" + c.ids["rule"]
		return one("500 values", func() response { return c.u.patch(path, c.longRule()) })
	},
	"createTransaction": func(c *costRun) []worstRequest {
		return one("50 parts", func() response {
			return c.u.post("/api/v1/transaction", c.split())
		})
	},
	"updateTransaction": func(c *costRun) []worstRequest {
		return one("50 parts", func() response {
			return c.u.patch("/api/v1/transaction/"+c.spend(), c.split())
		})
	},
	"createTransactions": func(c *costRun) []worstRequest {
		return one("500 rows", func() response {
			return c.u.post("/api/v1/transaction/batch", c.bulk())
		})
	},
	"exchangePersonalToken": exchangedToken,
	"getSeries": reportOf(
		"/api/v1/reports/series?groupBy=payee&interval=day&top=50&q=aaa&"),
	"exportSeries": reportOf(
		"/api/v1/reports/series/csv?groupBy=tag&interval=day&top=50&"),
	"getComparison": reportOf(
		"/api/v1/reports/compare?with=year&groupBy=payee&top=50&"),
	"exportComparison": reportOf(
		"/api/v1/reports/compare/csv?with=year&groupBy=tag&top=50&"),
	"getFlow":                 reportOf("/api/v1/reports/flow?"),
	"getBalances":             reportOf("/api/v1/reports/balances?interval=week&"),
	"exportBalances":          reportOf("/api/v1/reports/balances/csv?interval=week&"),
	"createView":              createdView,
	"updateView":              changedView,
	"updateTransactions":      changedMany,
	"deleteTransactions":      deletedMany,
	"resendInvitation":        resentInvitation,
	"withdrawInvitation":      withdrawnInvitation,
	"resendGoalInvitation":    resentGoalInvitation,
	"withdrawGoalInvitation":  withdrawnGoalInvitation,
	"shareGoal":               sharedGoal,
	"respondToGoalInvitation": changedGoalMember,
	"removeGoalMember":        removedGoalMember,

	"confirmTotp":         confirmedTotp,
	"deleteTotp":          disabledTotp,
	"createRecoveryCodes": renewedCodes,
	"loginMfa":            secondStep,
	"createPasskey":       registeredPasskey,
	"loginPasskey":        passkeySignIn,
	"listTransactions": func(c *costRun) []worstRequest {
		get := func(query url.Values) func() response {
			query.Set("limit", "200")
			return func() response { return c.u.get("/api/v1/transaction?" + query.Encode()) }
		}
		tags := url.Values{}
		for i := range 200 {
			tags.Add("tag", fmt.Sprint("unknown ", i))
		}
		search := func(q string) func() response {
			return get(url.Values{"q": {q}, "include": {"totals"}})
		}
		return []worstRequest{
			{what: "200 tags", send: get(tags)},
			{what: "a search without a match", send: search("aaab")},
			{what: "a search for 20 repetitions", send: search(longText[:19] + "b")},
			{what: "a search for 100 repetitions", send: search(longText[:99] + "b")},
			{what: "a search for 1000 repetitions", send: search(longText[:999] + "b")},
			{what: "all", send: get(url.Values{"include": {"totals"}})},
		}
	},
	"exportTransactions": func(c *costRun) []worstRequest {
		return one("all", func() response {
			return c.u.get("/api/v1/export/transactions?format=json")
		})
	},
	"updateTag": func(c *costRun) []worstRequest {
		return one("a tag of all", func() response {
			return c.u.patch("/api/v1/tags/tag%201", object{"name": "renamed"})
		})
	},
	"deleteTag": func(c *costRun) []worstRequest {
		return one("a tag of all", func() response { return c.u.del("/api/v1/tags/tag%202") })
	},
	"deleteCategory": func(c *costRun) []worstRequest {
		target := c.categories[0]
		path := fmt.Sprint("/api/v1/categories/", c.ids["category"], "?reassignTo=", target)
		return one("a category of all", func() response { return c.u.del(path) })
	},
}

// requestsOfState has the requests that need a resource in a certain state.
var requestsOfState = map[string]func(c *costRun) []worstRequest{
	"undoRule": func(c *costRun) []worstRequest {
		category := fmt.Sprint(c.categories[0])
		c.u.record(with(expense(c.ids["wallet"], category, "3"), object{"payee": "Bakery"}))
		rule := c.u.post("/api/v1/rules", c.u.rule(category)).text("rule.id")
		path := "/api/v1/rules/" + rule
		c.u.post(path+"/apply", object{"from": "2026-01-01"})
		c.u.awaitRule(path)
		return one("start of a job", func() response { return c.u.post(path+"/undo", nil) })
	},
	"createImport": func(c *costRun) []worstRequest {
		return one("patterns on 40 rows", func() response {
			return c.u.importFile(patternFile(), c.ids["wallet"])
		})
	},
	"updateImport": func(c *costRun) []worstRequest {
		path, defaults := "/api/v1/imports/"+c.staged(), object{"walletId": c.ids["wallet"]}
		return one("patterns on 40 rows", func() response {
			return c.u.patch(path, object{"defaults": defaults})
		})
	},
	"updateImportRows": func(costs *costRun) []worstRequest {
		path, rows := "/api/v1/imports/"+costs.staged()+"/rows", make([]any, 40)
		for i := range rows {
			rows[i] = object{"n": i + 2, "description": longText, "payee": longText[:200]}
		}
		send := func(rows []any) func() response {
			return func() response { return costs.u.patch(path, object{"rows": rows}) }
		}
		return []worstRequest{
			{what: "patterns on all 40 rows", code: "LIMIT_REACHED", send: send(rows)},
			{what: "patterns on 20 rows", send: send(rows[:20])},
		}
	},
	"listImportRows": func(c *costRun) []worstRequest {
		path := "/api/v1/imports/" + c.staged() + "/rows?limit=200"
		return one("40 rows", func() response { return c.u.get(path) })
	},
	"commitImport": func(c *costRun) []worstRequest {
		path := "/api/v1/imports/" + c.staged()
		defaults := object{"walletId": c.ids["wallet"], "expenseCategoryId": c.ids["category"]}
		c.u.patch(path, object{"defaults": defaults}).ok("IMPORT_UPDATED")
		return one("start of a job", func() response {
			return c.u.post(path+"/commit?force=true", object{})
		})
	},
	"deleteImport": func(c *costRun) []worstRequest {
		path := "/api/v1/imports/" + c.staged()
		return one("40 rows", func() response { return c.u.del(path) })
	},
	"createTransactionsFromReceipt": func(costs *costRun) []worstRequest {
		ids := costs.ids
		upload := func(rows int) func() response {
			lines := strings.Repeat(longText[:200]+" 1.00\n", rows)
			file := fmt.Appendf(nil, "%sTotal %d.00\n", lines, rows)
			return func() response {
				return costs.u.upload("", file,
					"walletId", ids["wallet"], "categoryId", ids["category"])
			}
		}
		return []worstRequest{
			{what: "50 lines", send: upload(50)},
			{what: "patterns on 400 lines", send: upload(400), code: "LIMIT_REACHED"},
		}
	},
	"createAttachment": func(c *costRun) []worstRequest {
		transaction, content := c.spend(), strings.Repeat(longText, 9000)
		return one("9 MB", func() response { return c.u.attach(transaction, "notes.txt", content) })
	},
	"deleteWallet": func(c *costRun) []worstRequest {
		path := "/api/v1/wallet/" + c.u.wallet("EUR", "0")
		return one("empty", func() response { return c.u.del(path) })
	},
	"reconcileWallet":      reconciledWallet,
	"deleteReconciliation": deletedReconciliation,
	"removeMember": func(c *costRun) []worstRequest {
		friend, ids := newUserAt(c.u.t, c.stack.URL, "Friend"), c.ids
		budget := c.u.budgetNamed("Shared", ids["bank"], c.categories[0].(string))
		c.u.invite(budget, friend, "editor", "accepted")
		return one("a member", func() response {
			return c.u.del("/api/v1/budgets/" + budget + "/members/" + friend.id)
		})
	},
	"unlinkTransfer": func(c *costRun) []worstRequest {
		moved := c.u.post("/api/v1/transfers", moves(c.ids["wallet"], c.ids["bank"], "1"))
		id := moved.created("TRANSFER_CREATED").text("transfer.id")
		path := "/api/v1/transfers/" + id + "/unlink"
		body := object{"categoryId": c.categories[0]}
		return one("a transfer", func() response { return c.u.post(path, body) })
	},
	"matchTransfer": func(costs *costRun) []worstRequest {
		ids := costs.ids
		in := with(expense(ids["bank"], ids["category"], "50"), object{"type": "income"})
		received := costs.u.post("/api/v1/transaction", in).created("TRANSACTION_CREATED")
		both := object{
			"outTransactionId": costs.spend(), "inTransactionId": received.text("transaction.id"),
		}
		return one("two transactions", func() response {
			return costs.u.post("/api/v1/transfers/match", both)
		})
	},
	"shareBudget": func(c *costRun) []worstRequest {
		friend := newUserAt(c.u.t, c.stack.URL, "Friend")
		path := "/api/v1/budgets/" + c.ids["budget"] + "/share"
		return one("a member", func() response {
			return c.u.post(path,
				object{"email": friend.email, "role": "viewer", "sharePercent": 1})
		})
	},
	"respondToInvitation": func(c *costRun) []worstRequest {
		path := "/api/v1/budgets/" + c.ids["budget"] + "/members/" + c.ids["member"]
		return one("role and share", func() response {
			return c.u.patch(path, object{"role": "viewer", "sharePercent": 1})
		})
	},
	"orderRules": func(c *costRun) []worstRequest {
		var ids []any
		for _, rule := range c.u.get("/api/v1/rules").ok("RULES_FETCHED").list("rules") {
			ids = append(ids, rule.(object)["id"])
		}
		slices.Reverse(ids)
		return one("all", func() response {
			return c.u.post("/api/v1/rules/order", object{"ids": ids})
		})
	},
	"login": func(c *costRun) []worstRequest {
		return one("a hash", func() response {
			return c.u.post("/api/v1/auth/login",
				object{"email": c.other.email, "password": c.other.password})
		})
	},
	"refresh": func(c *costRun) []worstRequest {
		u := newUserAt(c.u.t, c.stack.URL, "Refreshing")
		return one("a token", func() response {
			return u.post("/api/v1/auth/refresh", object{"refreshToken": u.refreshToken})
		})
	},
	"logout": func(c *costRun) []worstRequest {
		u := newUserAt(c.u.t, c.stack.URL, "Leaving")
		return one("a session", func() response { return u.post("/api/v1/auth/logout", object{}) })
	},
	"revokeSession": func(c *costRun) []worstRequest {
		u := newUserAt(c.u.t, c.stack.URL, "Leaving")
		id := u.get("/api/v1/auth/sessions").ok("SESSIONS_FETCHED").text("sessions.0.id")
		return one("a session", func() response { return u.del("/api/v1/auth/sessions/" + id) })
	},
	"changePassword": func(c *costRun) []worstRequest {
		u := newUserAt(c.u.t, c.stack.URL, "Changing")
		return one("two hashes", func() response {
			change := object{
				"currentPassword": u.password, "newPassword": longText[:120] + "8 more c",
			}
			return u.patch("/api/v1/auth/password", change)
		})
	},
	"updateMe": func(c *costRun) []worstRequest {
		u := newUserAt(c.u.t, c.stack.URL, "Changing")
		change := object{
			"name": longText[:100], "email": uuid.NewString() + "@example.com",
			"currentPassword": u.password,
		}
		return one("all fields", func() response { return u.patch("/api/v1/auth/me", change) })
	},
}
