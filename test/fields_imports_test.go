package test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// namedStatement is a file to import whose rows have values for all fields that a CSV file
// can have.
const namedStatement = "Statement of a bank\n" +
	"Account;Date;Payee;Text;Notes;Tags;Id;Amount;Kind;Currency;Category\n" +
	"DE02120300000000202051;03/02/2026;Bakery;Rolls;Fresh;Trip;b1;3;D;EUR;Bread\n" +
	"DE02120300000000202051;04/02/2026;Bakery;Cake;Late;Trip;b2;4;D;EUR;Bread\n"

// Reasons for fields of imports.
const (
	ofFile   = "the file decides it"
	notInCSV = "only other formats have it"
	byGet    = "events are short"
)

// importParts returns the parts of an import, and the change of each of them.
func importParts(wallet, category string) map[string]fielded {
	return map[string]fielded{
		"mapping": {
			message: &ledgerv1.ImportMapping{},
			change: object{
				"dateLayout": "MM/DD/YYYY", "decimalMark": ".", "amountMode": "signed",
				"invert":   true,
				"negative": []any{"C"}, "currency": "USD",
				"booked": []any{"B"}, "pending": []any{"P"}, "void": []any{"X"},
				"columns": []any{
					object{"index": 0, "field": "account"},
					object{"index": 1, "field": "date"},
					object{"index": 2, "field": "payee"},
					object{"index": 3, "field": "description"},
					object{"index": 4, "field": "notes"},
					object{"index": 5, "field": "tags"},
					object{"index": 6, "field": "externalId"},
					object{"index": 7, "field": "amount"},
					object{"index": 9, "field": "currency"},
					object{"index": 10, "field": "category"},
				},
			},
			unset: map[string]string{
				"width": notInCSV, "empty": "all columns have values",
				"datesUntil": "the dates have a year",
			},
			unchanged: map[string]string{
				"format": ofFile, "delimiter": ofFile, "encoding": ofFile, "skipRows": ofFile,
				"header": ofFile,
			},
		},
		"accounts.0": {
			message: &ledgerv1.ImportAccount{}, change: object{"key": "", "walletId": wallet},
			unset: map[string]string{
				"create": "the account has a wallet", "closingBalance": notInCSV,
				"closingDate": notInCSV, "openingBalance": notInCSV, "openingDate": notInCSV,
				"color": notInCSV, "icon": notInCSV, "position": notInCSV, "archived": notInCSV,
				"kind":     notInCSV,
				"currency": notInCSV,
			},
			unchanged: map[string]string{
				"key": ofFile, "name": ofFile, "last4": ofFile, "count": ofFile,
			},
		},
		"categories.0": {
			message: &ledgerv1.ImportCategory{},
			change:  object{"name": "Bread", "categoryId": category},
			unset: map[string]string{
				"create": "the category exists", "color": notInCSV, "icon": notInCSV,
				"kind": notInCSV,
			},
			unchanged: map[string]string{"name": ofFile, "count": ofFile},
		},
		"defaults": {
			message: &ledgerv1.ImportDefaults{},
			change: object{
				"walletId": wallet, "expenseCategoryId": category, "incomeCategoryId": category,
				"currency": "EUR",
			},
		},
	}
}

// TestImportFieldsSurvive does the same with an import, its parts and its rows. A commit
// sends the event.
func TestImportFieldsSurvive(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	events := me.listen(t.Context(), "")
	defer events.close()
	fielded := fielded{
		message: &ledgerv1.Import{},
		unchanged: map[string]string{
			"id": assigned, "createdAt": byTime, "updatedAt": byTime, "fileName": ofFile,
			"size": ofFile, "sha256": ofFile, "format": ofFile,
			"firstDate": ofFile, "lastDate": ofFile, "heading": ofFile,
		},
		unset: map[string]string{
			"warnings":    "the change of the mapping confirms them",
			"assumptions": "the change of the mapping confirms them",
		},
		notSent: map[string]string{
			"mapping": byGet, "heading": byGet, "assumptions": byGet, "accounts": byGet,
			"categories": byGet,
		},
	}
	uploaded := me.importFile(namedStatement, "").created("IMPORT_CREATED")
	before := uploaded.at("import").(object)
	path := "/api/v1/imports/" + before["id"].(string)
	parts := importParts(wallet, category)
	parts["accounts.0"].change["key"] = uploaded.at("import.accounts.0.key")
	changed := me.patch(path, object{
		"mapping":    with(before["mapping"].(object), parts["mapping"].change),
		"accounts":   []any{parts["accounts.0"].change},
		"categories": []any{parts["categories.0"].change}, "defaults": parts["defaults"].change,
	}).ok("IMPORT_UPDATED")
	require.Equal(t, changed.at("import"), me.get(path).at("import"))
	for part, f := range parts {
		from, _ := uploaded.at("import." + part).(object)
		f.requireFields(t, part, from, changed.at("import."+part).(object))
	}
	me.requireRowFields(t, path)

	require.Equal(t, http.StatusAccepted, me.post(path+"/commit", nil).status)
	me.awaitImport(path, "done")
	after := me.get(path).at("import").(object)
	fielded.requireFields(t, "import", before, after)
	requireListed(t, me.get("/api/v1/imports"), after)
	fielded.awaitEvent(t, events, after)
}

// requireRowFields changes the first row of an import and requires its fields.
func (u *user) requireRowFields(t *testing.T, path string) {
	t.Helper()
	row := fielded{
		message: &ledgerv1.ImportRow{},
		change: object{
			"n": 3, "action": "book", "categoryId": u.category("Fun"), "description": "Other rolls",
			"payee": "Shop",
		},
		unset: map[string]string{
			"splits": notInCSV, "adjustment": notInCSV,
			"transferWalletId": "the row has a category",
			"duplicateOf":      "no transaction is the same", "problem": "the row has none",
			"transactionId": "the commit sets it", "pending": "the bank has booked the payment",
			"formerAmount":        "the row matches no transaction",
			"possibleDuplicateOf": "no transaction has its day and amount",
			"dateAssumed":         "the row has a date",
		},
		unchanged: map[string]string{
			"n": ofFile, "line": ofFile, "status": "the row is ready", "date": ofFile,
			"amount": ofFile, "currency": ofFile, "notes": ofFile, "tags": ofFile,
			"externalId": ofFile, "account": ofFile, "category": ofFile, "cells": ofFile,
		},
	}
	before := u.get(path + "/rows").ok("IMPORT_ROWS_FETCHED").at("rows.0").(object)
	row.change["n"] = before["n"]
	after := u.patch(path+"/rows", object{"rows": []any{row.change}}).ok("IMPORT_ROWS_UPDATED").
		at("rows.0").(object)
	row.requireFields(t, "row", before, after)
	requireListed(t, u.get(path+"/rows"), after)
}
