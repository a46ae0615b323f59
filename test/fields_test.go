package test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// fielded is a resource whose fields must survive each way that a resource takes through Coffer.
type fielded struct {
	message proto.Message
	// create and change have a value for each field that a client can set. The values differ.
	create, change object
	// unset names the fields that this resource does not have, unchanged those that a change cannot
	// set, and notMoved those that an export with an import does not restore, with the reasons.
	// notMoved is nil for resources that are not exported.
	unset, unchanged, notMoved map[string]string
	// notSent names the fields that events lack, with the reasons.
	notSent map[string]string
}

// Reasons for several fields.
const (
	assigned = "the server assigns it"
	byTime   = "it is the time of a write"
	applied  = "only an application of the rule sets it"
)

// fieldedResources returns the resources by the path of their collection. A new field of their
// messages fails TestFieldsSurvive until it has values here, or a reason.
func fieldedResources(wallet, other, category, fun string) map[string]fielded {
	at := map[string]string{"id": assigned, "createdAt": byTime, "updatedAt": byTime}
	and := func(more map[string]string) map[string]string {
		all := map[string]string{}
		for _, from := range []map[string]string{at, more} {
			for k, v := range from {
				all[k] = v
			}
		}
		return all
	}
	spent := object{
		"amount": 5, "description": "Bread", "date": "2026-03-14T10:00:00.000Z", "currency": "EUR",
		"walletId": wallet, "categoryId": category, "type": "expense",
		"payee": "Bakery", "notes": "Fresh", "tags": []any{"Trip"}, "externalId": "bank:1",
	}
	corrected := object{
		"amount": 7, "description": "Salary", "date": "2026-03-15T11:00:00.000Z", "currency": "USD",
		"walletId": other, "categoryId": fun, "type": "income",
		"payee": "Employer", "notes": "Late", "tags": []any{"Work", "Été"}, "cleared": true,
	}
	parts := func(first, second int) object {
		return object{"splits": []any{
			object{"categoryId": category, "amount": first, "description": "one"},
			object{"categoryId": fun, "amount": second, "description": "two"},
		}}
	}
	split, resplit := with(spent, parts(2, 3)), with(corrected, parts(3, 4))
	split["externalId"] = "bank:2"
	split["description"], resplit["description"] = "Parts", "Other parts"
	delete(split, "categoryId")
	delete(resplit, "categoryId")
	origins := map[string]string{
		"reconciled": "only a reconciliation sets it",
		"receiptId":  "only a receipt sets it", "importId": "only an import sets it",
		"transferId": "TestExportRoundTrip has transfers",
	}
	lost := and(map[string]string{
		"attachmentCount": "an export has no files", "receiptId": "an export has no receipts",
		"importId": "it is the import into the other account",
	})
	return map[string]fielded{
		"wallet": {
			message: &ledgerv1.Wallet{},
			create: object{
				"name": "Savings", "currency": "EUR", "balance": 10, "color": "#112233",
				"icon": "🏦", "position": 3, "openingDate": "2026-02-01", "kind": "savings",
			},
			change: object{
				"name": "Reserve", "archived": true, "color": "#445566", "icon": "💶", "position": 4,
				"initialBalance": 20, "openingDate": "2026-02-02", "kind": "investment",
			},
			unchanged: and(map[string]string{"currency": "amounts are not converted"}),
			notMoved:  at,
		},
		"categories": {
			message:   &ledgerv1.Category{},
			create:    object{"name": "Games", "color": "#112233", "icon": "🎲", "kind": "expense"},
			change:    object{"name": "Sports", "color": "#445566", "icon": "🏀", "kind": "income"},
			unchanged: at, notMoved: at,
		},
		"transaction": {
			message: &ledgerv1.Transaction{}, create: spent, change: corrected,
			unset: map[string]string{
				"splits": "the other transaction has them", "receiptId": origins["receiptId"],
				"importId": origins["importId"], "transferId": origins["transferId"],
				"reconciled": origins["reconciled"],
			},
			unchanged: and(map[string]string{
				"externalId":      "it identifies the transaction at its bank",
				"attachmentCount": "a change adds no file",
			}), notMoved: lost,
		},
		"transaction#split": {
			message: &ledgerv1.Transaction{}, create: split, change: resplit,
			unset: map[string]string{
				"categoryId": "the parts have it", "receiptId": origins["receiptId"],
				"importId": origins["importId"], "transferId": origins["transferId"],
				"reconciled": origins["reconciled"],
			},
			unchanged: and(map[string]string{
				"externalId":      "it identifies the transaction at its bank",
				"attachmentCount": "a change adds no file",
			}), notMoved: lost,
		},
		"transfers": {
			message: &ledgerv1.Transfer{},
			create: object{
				"fromWalletId": wallet, "toWalletId": other, "amount": 5, "currency": "EUR",
				"toAmount": 6, "toCurrency": "USD", "date": "2026-03-14T10:00:00.000Z",
				"description": "Move", "notes": "Once", "tags": []any{"Trip"},
			},
			change: object{
				"fromWalletId": other, "toWalletId": wallet, "amount": 7, "currency": "USD",
				"toAmount": 9, "toCurrency": "EUR", "date": "2026-03-15T10:00:00.000Z",
				"description": "Back", "notes": "Twice", "tags": []any{"Work"},
			},
			unchanged: and(map[string]string{
				"outTransactionId": assigned, "inTransactionId": assigned,
			}),
		},
		"rules": {
			message: &ledgerv1.Rule{},
			create: object{
				"name": "Bakeries", "enabled": true, "match": "all", "stop": false,
				"on": []any{"import"},
				"conditions": []any{
					object{"field": "payee", "op": "contains", "values": []any{"bakery"}},
				},
				"actions": []any{object{"kind": "setCategory", "value": category}},
			},
			change: object{
				"name": "Shops", "enabled": false, "match": "any", "stop": true,
				"on": []any{"receipt"},
				"conditions": []any{
					object{"field": "payee", "op": "contains", "values": []any{"shop"}},
				},
				"actions": []any{object{"kind": "addTag", "value": "Shop"}},
			},
			unset: map[string]string{
				"enabled": "the change switches the rule off", "progress": applied,
				"application": applied, "appliedCount": applied, "lastAppliedAt": applied,
			},
			unchanged: and(map[string]string{
				"position": "only OrderRules sets it", "progress": applied, "appliedCount": applied,
				"application": applied, "lastAppliedAt": applied,
			}),
		},
	}
}

// TestFieldsSurvive requires that each field of the resources survives create, PATCH, /changes,
// events, and an export with an import. The fields come from the descriptors: a field without a
// value or a reason fails.
func TestFieldsSurvive(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	names := map[string]string{}
	named := func(id, name string) string {
		names[id] = name
		return id
	}
	wallet := named(me.wallet("EUR", "0"), "")
	other := me.post("/api/v1/wallet", object{"name": "Other", "currency": "USD"}).text("wallet.id")
	names[wallet], names[other] = me.get("/api/v1/wallet/"+wallet).text("wallet.name"), "Other"
	category, fun := named(me.category("Food"), "Food"), named(me.category("Fun"), "Fun")
	events := me.listen(t.Context(), "")
	defer events.close()
	resources := fieldedResources(wallet, other, category, fun)
	current := map[string]object{}
	for kind, fielded := range resources {
		collection, _, _ := strings.Cut(kind, "#")
		path := "/api/v1/" + collection
		singular := strings.ToLower(string(fielded.message.ProtoReflect().Descriptor().Name()))
		created := me.post(path, fielded.create)
		require.Equal(t, http.StatusCreated, created.status, "%s: %s", kind, created.raw)
		before := created.at(singular).(object)
		id := before["id"].(string)
		if collection == "transaction" {
			require.Equal(t, http.StatusCreated, me.attach(id, "menu.txt", "Soup "+kind).status)
		}
		changed := me.patch(path+"/"+id, fielded.change)
		require.Equal(t, http.StatusOK, changed.status, "%s: %s", kind, changed.raw)
		after := changed.at(singular).(object)
		fielded.requireFields(t, kind, before, after)
		require.Equal(t, after, me.get(path+"/"+id).at(singular), kind)
		requireListed(t, me.get(path), after)
		fielded.awaitEvent(t, events, after)
		current[kind] = after
	}
	me.requireCopied(t, resources, current)
	me.requireMoved(t, resources, current, names)
}

// TestSettingsFieldsSurvive does the same with the settings and a tag, which only a PATCH changes
// and no export has.
func TestSettingsFieldsSurvive(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, other := me.wallet("EUR", "0"), me.wallet("EUR", "0")
	category, fun := me.category("Food"), me.category("Fun")
	first := object{
		"timeZone": "Europe/Berlin", "weekStart": "sunday", "locale": "de-DE",
		"baseCurrency": "EUR", "defaultWalletId": wallet, "defaultCategoryId": category,
	}
	second := object{
		"timeZone": "Asia/Tokyo", "weekStart": "saturday", "locale": "ja", "baseCurrency": "JPY",
		"defaultWalletId": other, "defaultCategoryId": fun,
	}
	me.record(with(expense(wallet, category, "1"), object{"tags": []any{"Trip"}}))
	events := me.listen(t.Context(), "")
	defer events.close()
	before := me.patch("/api/v1/settings", first).ok("SETTINGS_UPDATED").at("settings").(object)
	after := me.patch("/api/v1/settings", second).ok("SETTINGS_UPDATED").at("settings").(object)
	settings := fielded{
		message: &ledgerv1.Settings{}, unchanged: map[string]string{"updatedAt": byTime},
	}
	settings.requireFields(t, "settings", before, after)
	require.Equal(t, after, me.get("/api/v1/settings").at("settings"))
	settings.awaitEvent(t, events, after)

	before = me.patch("/api/v1/tags/Trip", object{"name": "Rome", "color": "#112233"}).
		ok("TAG_UPDATED").at("tag").(object)
	after = me.patch("/api/v1/tags/Rome", object{"name": "Paris", "color": "#445566"}).
		ok("TAG_UPDATED").at("tag").(object)
	tag := fielded{message: &ledgerv1.Tag{}, unchanged: map[string]string{
		"transactionCount": "transactions change it",
	}}
	tag.requireFields(t, "tag", before, after)
	require.Equal(t, after, me.get("/api/v1/tags/Paris").at("tag"))
	requireListed(t, me.get("/api/v1/tags"), after)
	tag.awaitEvent(t, events, after)

	changes := me.get("/api/v1/changes").ok("CHANGES_FETCHED").at("changes").(object)
	require.Equal(t, me.get("/api/v1/settings").at("settings"), changes["settings"])
	followed := &ledgerv1.FollowedTag{}
	for i := range followed.ProtoReflect().Descriptor().Fields().Len() {
		name := followed.ProtoReflect().Descriptor().Fields().Get(i).JSONName()
		want := map[string]any{"key": "paris", "name": after["name"], "color": after["color"]}
		require.NotEmpty(t, want[name],
			"/changes has a field %s that this test does not know", name)
		require.Equal(t, want[name], changes["tags"].([]any)[0].(object)[name])
	}
}
