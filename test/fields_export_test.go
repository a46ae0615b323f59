package test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCSVColumnsSurvive requires that the import of an export as CSV restores each of its columns,
// in transactions with and without parts and in transfers. The columns come from the heading.
func TestCSVColumnsSurvive(t *testing.T) {
	t.Parallel()
	me, moved := newUser(t), newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	other := me.post("/api/v1/wallet", object{"name": "Other", "currency": "USD"}).text("wallet.id")
	resources := fieldedResources(wallet, other, category, me.category("Fun"))
	for _, kind := range []string{"transaction", "transaction#split", "transfers"} {
		path, _, _ := strings.Cut(kind, "#")
		created := me.post("/api/v1/"+path, resources[kind].create)
		require.Equal(t, http.StatusCreated, created.status, "%s: %s", kind, created.raw)
	}
	file := me.get("/api/v1/export/transactions?format=csv").raw
	moved.importExport("books.csv", file)
	columns, before := csvRows(t, file)
	_, after := csvRows(t, moved.get("/api/v1/export/transactions?format=csv").raw)
	require.Len(t, after, len(before))
	reassigned := map[string]string{"id": assigned, "transfer_id": assigned, "split_of": assigned}
	for index, column := range columns {
		used := false
		for key, row := range before {
			require.Contains(t, after, key)
			if row[index] == "" {
				continue
			}
			used = true
			if _, ok := reassigned[column]; ok {
				require.NotEmpty(t, after[key][index], "%s of %s", column, key)
				continue
			}
			require.Equal(t, row[index], after[key][index], "%s of %s", column, key)
		}
		require.True(t, used, "no row has a value for the column %s", column)
	}
}

// csvRows returns the heading of an export as CSV, and its rows by description and amount.
func csvRows(t *testing.T, file []byte) (columns []string, rows map[string][]string) {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	require.NoError(t, err)
	description, amount := slices.Index(all[0], "description"), slices.Index(all[0], "amount")
	rows = map[string][]string{}
	for _, row := range all[1:] {
		rows[row[description]+row[amount]] = row
	}
	return all[0], rows
}

// requireMoved requires that an export and its import into another account restore the objects.
func (u *user) requireMoved(
	t *testing.T, resources map[string]fielded, current map[string]object, names map[string]string,
) {
	t.Helper()
	moved := newUser(t)
	file := u.get("/api/v1/export/transactions?format=json")
	moved.importExport("books.jsonl", file.raw)
	exported := exportedObjects(t, file.raw)
	restored := exportedObjects(t, moved.get("/api/v1/export/transactions?format=json").raw)
	theirs := map[string]string{}
	for _, o := range restored {
		if name, ok := o["name"].(string); ok {
			theirs[o["id"].(string)] = name
		}
	}
	key := func(o object) string { return fmt.Sprint(o["name"], o["description"]) }
	for kind, fielded := range resources {
		if fielded.notMoved == nil {
			continue
		}
		require.True(t, contains(listed(exported), current[kind], nil), "the export lacks %s", kind)
		copied, ok := restored[key(current[kind])]
		require.True(t, ok, "the import lacks %s", kind)
		fields := fielded.message.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			name := fields.Get(i).JSONName()
			if _, lost := fielded.notMoved[name]; lost {
				continue
			}
			require.Equal(t, renamed(current[kind][name], names), renamed(copied[name], theirs),
				"%s.%s", kind, name)
		}
	}
}

// renamed replaces the ids of wallets and categories in a value by their names.
func renamed(value any, names map[string]string) string {
	text, _ := json.Marshal(value)
	for id, name := range names {
		text = []byte(strings.ReplaceAll(string(text), id, name))
	}
	return string(text)
}

// exportedObjects returns the objects of an export by name and description.
func exportedObjects(t *testing.T, file []byte) map[string]object {
	t.Helper()
	all := map[string]object{}
	for line := range strings.Lines(string(file)) {
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		var o map[string]object
		require.NoError(t, decoder.Decode(&o))
		for _, inner := range o {
			all[fmt.Sprint(inner["name"], inner["description"])] = inner
		}
	}
	return all
}

// listed returns the objects of a map.
func listed(from map[string]object) []any {
	var all []any
	for _, o := range from {
		all = append(all, o)
	}
	return all
}
