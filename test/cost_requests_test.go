package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// worstRequest is a request whose cost is measured.
type worstRequest struct {
	what string
	send func() response
	// code is the code of the response, or empty if it must succeed.
	code string
}

// newCostRun returns a stack, on which a user has transactions with long texts, and rules with
// expensive patterns.
func newCostRun(t *testing.T) *costRun {
	t.Helper()
	own := ownStack(t, "",
		withProvider(map[string]string{"RATE_LIMIT": "0", "TRUST_PROXY_HOPS": "1"}))
	costs := &costRun{stack: own, resources: &attackRun{stack: own}}
	costs.other = newUserAt(t, own.URL, "Other")
	costs.u, costs.resources.attackerIDs = costs.resources.newUserWithResources(t, "Costly")
	ids := costs.resources.attackerIDs
	costs.ids = ids
	for i := range 100 {
		costs.categories = append(costs.categories, costs.u.category(fmt.Sprint("category ", i)))
	}
	photo, query := photograph(t, groceries), "?keepImage=true"
	ids["receipt"] = costs.u.upload(query, photo,
		"walletId", ids["wallet"], "categoryId", ids["category"]).
		created("RECEIPT_TRANSACTIONS_CREATED").text("receipt.id")
	for range costRows / 500 {
		costs.u.post("/api/v1/transaction/batch", costs.bulk()).created("TRANSACTIONS_CREATED")
	}
	costs.patterns = costs.u.post("/api/v1/rules",
		costs.patternRule()).created("RULE_CREATED").text("rule.id")
	return costs
}

// longText has the maximum length of a description.
var longText = strings.Repeat("a", 1000)

// bulk returns the largest body of createTransactions. Notes of the maximum length would exceed the
// size of a body.
func (c *costRun) bulk() object {
	tags := make([]any, 20)
	for i := range tags {
		tags[i] = fmt.Sprint("tag ", i)
	}
	ids := c.ids
	row := with(expense(ids["wallet"], ids["category"], "1"), object{
		"description": longText, "tags": tags,
	})
	return object{"transactions": slices.Repeat([]any{row}, 500)}
}

// exchangedToken exchanges a valid token.
func exchangedToken(c *costRun) []worstRequest {
	made := c.u.post("/api/v1/auth/tokens", object{"name": "script", "scopes": []any{"read"}})
	token := made.created("TOKEN_CREATED").text("token")
	return one("a valid token", func() response {
		return c.u.post("/api/v1/auth/tokens/exchange", object{"token": token})
	})
}

// resentInvitation sends an invitation by mail again.
func resentInvitation(c *costRun) []worstRequest {
	path := c.u.inviteByMail(c.ids["budget"], uuid.NewString()+"@example.com")
	return one("an e-mail", func() response { return c.u.post(path+"/resend", object{}) })
}

// withdrawnInvitation withdraws an invitation by mail.
func withdrawnInvitation(c *costRun) []worstRequest {
	budget := c.u.budgetNamed("Withdrawn", c.ids["bank"], c.categories[0].(string))
	path := c.u.inviteByMail(budget, uuid.NewString()+"@example.com")
	return one("an e-mail", func() response { return c.u.del(path) })
}

// changedMany changes most fields of the maximum number of transactions.
func changedMany(c *costRun) []worstRequest {
	removed, added := []any{"tag 0", "tag 1"}, []any{"tag 0", "another"}
	var items []any
	for _, id := range c.spendMany() {
		items = append(items, object{
			"id": id, "description": longText, "removeTags": removed, "addTags": added,
			"amount": 2, "date": "2026-04-01",
		})
	}
	return one("500 rows", func() response {
		return c.u.patch("/api/v1/transaction/batch", object{"items": items})
	})
}

// deletedMany deletes the maximum number of transactions.
func deletedMany(c *costRun) []worstRequest {
	ids := c.spendMany()
	return one("500 rows", func() response {
		return c.u.post("/api/v1/transaction/batch/delete", object{"ids": ids})
	})
}

// reportOf returns the request for a report of a year that is not made of whole months.
func reportOf(path string) func(c *costRun) []worstRequest {
	return func(c *costRun) []worstRequest {
		return one("a year of rows", func() response {
			return c.u.get(path + "currency=EUR&from=2025-08-15&to=2026-08-14")
		})
	}
}

// spendMany creates the transactions of bulk and returns their ids.
func (c *costRun) spendMany() []any {
	var ids []any
	created := c.u.post("/api/v1/transaction/batch", c.bulk()).created("TRANSACTIONS_CREATED")
	for _, transaction := range created.list("transactions") {
		ids = append(ids, transaction.(object)["id"])
	}
	return ids
}

// patternRule returns a rule whose patterns take almost as many steps as all rules of a user may.
func (c *costRun) patternRule() object {
	condition := object{
		"field": "description", "op": "matches", "values": []any{`(?:[^q]?){130}Q0$`},
	}
	return object{
		"name": "patterns", "match": "any", "conditions": slices.Repeat([]any{condition}, 7),
		"actions": []any{object{"kind": "setNotes", "value": "seen"}},
	}
}

// inOrderOfCosts returns the operations that delete or consume a resource after all others.
func inOrderOfCosts(all []operation) []operation {
	last := func(o operation) bool {
		return o.method == http.MethodDelete || o.OperationID == "undoImport"
	}
	slices.SortStableFunc(all, func(a, b operation) int {
		switch {
		case last(a) == last(b):
			return 0
		case last(a):
			return 1
		}
		return -1
	})
	return all
}

// requests returns the requests for an operation: those of the two tables, or one that is derived
// from the document.
func (c *costRun) requests(t *testing.T, operation operation) []worstRequest {
	t.Helper()
	if own := worstRequests[operation.OperationID]; own != nil {
		return own(c)
	}
	if own := requestsOfState[operation.OperationID]; own != nil {
		return own(c)
	}
	isJSON := operation.RequestBody == nil || operation.hasBody()
	require.True(t, isJSON, "%s has a form: add its worst request", operation.OperationID)
	var ids []string
	for _, kind := range operation.params(t) {
		ids = append(ids, c.ids[kind])
	}
	var body any
	if operation.hasBody() {
		schema := operation.RequestBody.Value.Content.Get("application/json").Schema.Value
		body = c.enlarged("", schema, plain(t, c.resources.body(t, operation)))
	}
	path := operation.at(ids...) + "?" + operation.largestQuery().Encode()
	return one("derived", func() response { return c.u.call(operation.method, path, body) })
}

// plain returns a value as encoding/json decodes it.
func plain(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var decoded any
	require.NoError(t, json.Unmarshal(text, &decoded))
	return decoded
}

// largestQuery returns lists of the maximum length, the largest page, and the first value of
// parameters with few values. It leaves out filters that make a request cheaper, and wait, which
// takes no processor time.
func (o operation) largestQuery() url.Values {
	query := url.Values{}
	for _, parameterRef := range o.Parameters {
		name, schema := parameterRef.Value.Name, parameterRef.Value.Schema.Value
		switch {
		case parameterRef.Value.In != "query":
		case name == "limit":
			query.Set(name, "1000") // A list reduces it to its maximum.
		case schema.MaxItems != nil:
			for _, v := range elements(schema.Items, int(*schema.MaxItems)) {
				query.Add(name, fmt.Sprint(v))
			}
		case name == "include" && schema.Items != nil:
			for _, v := range schema.Items.Value.Enum {
				query.Add(name, fmt.Sprint(v))
			}
		case (name == "include" || parameterRef.Value.Required) && len(schema.Enum) > 0:
			query.Set(name, fmt.Sprint(schema.Enum[0]))
		}
	}
	return query
}

// notEnlarged has the members that are no free text although they have a maximum length, and those
// that another user's or row's value must not equal.
var notEnlarged = []string{"email", "icon", "locale", "password", "currentPassword", "externalId"}

// enlarged returns a valid value of a request with texts and lists at the limits of its schema. It
// adds texts and lists of texts that the value lacks. Numbers stay, because their size does not
// change the cost.
func (c *costRun) enlarged(name string, schema *openapi3.Schema, value any) any {
	switch typeswitch := value.(type) {
	case object:
		larger := with(typeswitch, nil)
		for member, property := range schema.Properties {
			given, has := typeswitch[member]
			if !has && freeText(member, property.Value) {
				given, has = "", true
			}
			if has {
				larger[member] = c.enlarged(member, property.Value, given)
			}
		}
		return larger
	case []any:
		switch {
		case name == "categoryIds":
			return c.categories
		case schema.MaxItems == nil || len(typeswitch) == 0:
			return typeswitch
		case schema.Items.Value.Type.Is("object"):
			return slices.Repeat([]any{c.enlarged("", schema.Items.Value, typeswitch[0])},
				int(*schema.MaxItems))
		}
		list := elements(schema.Items, int(*schema.MaxItems))
		for i := range list {
			list[i] = c.enlarged("", schema.Items.Value, list[i])
		}
		return list
	case string:
		if freeText(name, schema) {
			return typeswitch + strings.Repeat("a", max(0, int(*schema.MaxLength)-len(typeswitch)))
		}
	}
	return value
}

// freeText reports whether a member of a request can have any text up to a maximum length.
func freeText(name string, s *openapi3.Schema) bool {
	anyText := s.Type.Is("string") && s.Pattern == "" && s.Format == "" && len(s.Enum) == 0
	return anyText && s.MaxLength != nil && !slices.Contains(notEnlarged, name)
}

// longRule returns a rule with as many conditions, values and actions as possible.
func (c *costRun) longRule() object {
	values := make([]any, 50)
	for i := range values {
		values[i] = fmt.Sprintf("%d %s", i, longText[:25])
	}
	actions := []any{
		object{"kind": "setCategory", "value": c.categories[0]},
		object{"kind": "setPayee", "value": longText[:200]},
		object{"kind": "setNotes", "value": longText},
		object{"kind": "addTag", "value": "one"},
	}
	condition := object{"field": "description", "op": "in", "values": values}
	return object{
		"name": longText[:100], "match": "any", "actions": actions,
		"conditions": slices.Repeat([]any{condition}, 10),
	}
}

// patternFile returns a file to import with 40 rows of the longest description.
func patternFile() string {
	return "Date,Amount,Currency,Description\n" +
		strings.Repeat("2026-01-31,-1.00,EUR,"+longText+"\n", 40)
}
