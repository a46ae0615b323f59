package export

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// notExported are the fields of a list's request that an export lacks, with the reasons.
var notExported = map[protoreflect.Name]string{
	"type":       inFile,
	"currency":   inFile,
	"min_amount": inFile,
	"max_amount": inFile,
	"q":          inFile,
	"untagged":   inFile,
	"payee":      inFile,
	"counted":    inFile,
	"cleared":    inFile,

	"without_payee":      inFile,
	"except_wallet_id":   inFile,
	"except_category_id": inFile,
	"except_payee":       inFile,

	"sort":    oneOrder,
	"limit":   oneOrder,
	"cursor":  oneOrder,
	"include": oneOrder,
}

const (
	inFile   = "the program that reads the file selects by it"
	oneOrder = "an export has all transactions in one order"
)

// TestExportTransactionsFiltersAsTheList requires that an export and a list with the same filter
// have the same transactions. The filters come from the descriptors.
func TestExportTransactionsFiltersAsTheList(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	srv.detailed(t, user)
	plain := user.Create(t, user.Spends("1")).GetId()
	id := srv.NewID()
	pgtest.Exec(t, srv.DB, `
			INSERT INTO receipts (id, owner_id, file_sha256, content, created_at)
			VALUES ($1, $2, '', '', now())`,
		id, user.ID)
	pgtest.Exec(t, srv.DB, `
			UPDATE transactions
			SET import_id = $2, receipt_id = $2, attachment_count = 1
			WHERE id = $1`,
		plain, id)
	values := map[protoreflect.Name][]string{
		"wallet_id":       {fmt.Sprintf("%q", user.Wallet)},
		"category_id":     {fmt.Sprintf("%q", user.Category)},
		"from":            {`"2026-03-14"`},
		"to":              {`"2026-03-14"`},
		"tag":             {`"trip"`},
		"external_id":     {`" bank:1 "`, `"BANK:1"`},
		"import_id":       {fmt.Sprintf("%q", id), fmt.Sprintf("%q", srv.NewID())},
		"receipt_id":      {fmt.Sprintf("%q", id), fmt.Sprintf("%q", srv.NewID())},
		"has_attachments": {"true", "false"},
	}
	all := srv.bothIDs(t, user, "")
	fields := (&ledgerv1.ListTransactionsRequest{}).ProtoReflect().Descriptor().Fields()
	exported := (&wanted{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		name := fields.Get(i).Name()
		_, excused := notExported[name]
		require.Equal(t, excused, exported.ByName(name) == nil, "an export has no filter %s", name)
		require.Equal(t, excused, values[name] == nil, "the test has no value for %s", name)
		for j, value := range values[name] {
			got := srv.bothIDs(t, user, fmt.Sprintf("%s: %s", name, value))
			require.Less(t, len(got), len(all), "%s: %s selects all", name, value)
			require.True(t, j > 0 || len(got) > 0, "%s: %s selects nothing", name, value)
		}
	}
}

// bothIDs requires that a list and an export with a filter have the same transactions. It returns
// their ids.
func (s *server) bothIDs(t *testing.T, user fixture.User, filter string) []string {
	t.Helper()
	list, file := &ledgerv1.ListTransactionsRequest{}, &wanted{}
	require.NoError(t, prototext.Unmarshal([]byte(filter), list))
	require.NoError(t, prototext.Unmarshal([]byte(filter), file))
	resp, err := s.ListTransactions(user.Ctx, list)
	require.NoError(t, err)
	require.False(t, resp.GetPagination().GetHasMore())
	var listed, exported []string
	for _, transaction := range resp.GetTransactions() {
		listed = append(listed, transaction.GetId())
	}
	for _, row := range s.table(user.Ctx, t, file) {
		id, _, _ := strings.Cut(row[0], ".")
		exported = append(exported, id)
	}
	slices.Sort(listed)
	slices.Sort(exported)
	require.Equal(t, listed, slices.Compact(exported), filter)
	return listed
}
