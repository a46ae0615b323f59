package test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestExport(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, category := me.wallet("EUR", "10"), me.category("Food")
	id := me.spend(wallet, category, "2.50")

	table := me.get("/api/v1/export/transactions?format=csv&walletId=" + wallet)
	require.Equal(t, http.StatusOK, table.status, "%s", table.raw)
	require.Equal(t, "text/csv; charset=utf-8", table.header.Get("Content-Type"))
	require.Regexp(t, `^attachment; filename=coffer-\d{4}-\d\d-\d\d\.csv$`,
		table.header.Get("Content-Disposition"))
	require.Equal(t,
		"id,date,type,amount,currency,wallet,category,payee,description,notes,tags,"+
			"transfer_id,external_id,split_of\r\n"+
			id+",2026-03-14T00:00:00.000Z,expense,-2.50,EUR,Cash,Food,,,,,,,\r\n",
		string(table.raw))

	objects := me.get("/api/v1/export/transactions?format=json")
	require.Equal(t, "application/x-ndjson", objects.header.Get("Content-Type"))
	lines := strings.Split(strings.TrimSpace(string(objects.raw)), "\n")
	require.Len(t, lines, 3)
	for i, want := range []string{
		`{"wallet":{"id":"` + wallet, `{"category":{"id":"` + category,
		`{"transaction":{"id":"` + id,
	} {
		require.True(t, strings.HasPrefix(lines[i], want), lines[i])
	}

	journal := me.get("/api/v1/export/transactions?format=hledger")
	require.Contains(t, string(journal.raw), "* Opening balance\n    assets:Cash  10.00 EUR\n")
	ledger := me.get("/api/v1/export/transactions?format=beancount")
	require.Equal(t, "text/plain; charset=utf-8", ledger.header.Get("Content-Type"))
	require.Contains(t, ledger.header.Get("Content-Disposition"), ".beancount")
	require.Contains(t, string(ledger.raw),
		"^coffer-"+id+"\n  Assets:Cash  -2.50 EUR\n  Expenses:Food  2.50 EUR\n")

	none := stranger.get("/api/v1/export/transactions?format=json")
	require.Equal(t, http.StatusOK, none.status)
	require.Empty(t, none.raw)
	stranger.get("/api/v1/export/transactions?format=csv&walletId="+wallet).
		fails(404, "WALLET_NOT_FOUND").blames("walletId")
	stranger.get("/api/v1/export/transactions?format=csv&categoryId="+category).
		fails(404, "INVALID_CATEGORY_EXIST_PARAMS").blames("categoryId")
	me.get("/api/v1/export/transactions").fails(400, "UNSUPPORTED_EXPORT_FORMAT").blames("format")
	me.get("/api/v1/export/transactions?format=xlsx").fails(400, "UNSUPPORTED_EXPORT_FORMAT").
		blames("format")
	me.get("/api/v1/export/transactions?format=csv&walletId=x").fails(400, "WALLET_NOT_FOUND").
		blames("walletId")
	me.get("/api/v1/export/transactions?format=csv&from=x").fails(400, "INVALID_TRANSACTION_DATE").
		blames("from")
	me.get("/api/v1/export/transactions?format=csv&tag=a%2Cb").invalid("tag")
	me.get("/api/v1/export/transactions?format=csv&importId=x").fails(400, "INVALID_IMPORT_ID").
		blames("importId")
	me.get("/api/v1/export/transactions?format=csv&receiptId=x").fails(400, "INVALID_RECEIPT_ID").
		blames("receiptId")
	attached := me.get("/api/v1/export/transactions?format=csv" +
		"&hasAttachments=true&externalId=bank%3A1")
	require.Equal(t, strings.SplitAfter(string(table.raw), "\n")[0], string(attached.raw))
	anonymous := &user{t: t}
	anonymous.get("/api/v1/export/transactions?format=csv").fails(401, "UNAUTHORIZED")
}

// TestExportStalledReader starts an export and stops reading. The gateway must cut it off after the
// 30 s that a write may take. Only then does the database transaction end, and with it the lock
// that allows a user one export at a time.
func TestExportStalledReader(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	// The file is larger than the buffers of both connections together, so that writes block.
	const batches, each = 12, 200
	for range batches {
		var items []object
		for range each {
			e := expense(wallet, category, "1")
			e["notes"] = strings.Repeat("x", 4000)
			items = append(items, e)
		}
		me.post("/api/v1/transaction/batch", batch(items...)).created("TRANSACTIONS_CREATED")
	}
	const path = "/api/v1/export/transactions?format=json"
	conn := me.dial()
	defer func() { _ = conn.Close() }()
	const request = "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n"
	_, err := fmt.Fprintf(conn, request, path, me.token)
	require.NoError(t, err)
	started := time.Now()
	stalled, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
	require.NoError(t, err)
	defer func() { _ = stalled.Body.Close() }()
	require.Equal(t, http.StatusOK, stalled.StatusCode)

	me.get(path).fails(429, "RATE_LIMITED")
	var again response
	for range time.Tick(time.Second) {
		again = me.get(path)
		if again.status == http.StatusOK || time.Since(started) > 2*time.Minute {
			break
		}
	}
	require.Equal(t, http.StatusOK, again.status, "the export of the stalled reader still runs")
	require.Greater(t, len(again.raw), batches*each*4000)
	read, err := io.Copy(io.Discard, stalled.Body)
	require.Error(t, err, "the file ends without its last chunk")
	require.Less(t, read, int64(len(again.raw)))
}
