package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

var words = regexp.MustCompile(`[A-Z][a-z]+`)

// TestEventTable compares the page with the messages of events.proto. The name of a message
// determines the event's subject.
func TestEventTable(t *testing.T) {
	t.Parallel()
	var want [][]string
	for _, file := range []protoreflect.FileDescriptor{
		authv1.File_coffer_auth_v1_events_proto, ledgerv1.File_coffer_ledger_v1_events_proto,
		budgetv1.File_coffer_budget_v1_events_proto,
	} {
		for i := range file.Messages().Len() {
			m := file.Messages().Get(i)
			service := strings.TrimPrefix(string(file.Package()), "coffer.")
			var fields []string
			for j := range m.Fields().Len() {
				fields = append(fields, m.Fields().Get(j).JSONName())
			}
			name := words.FindAllString(string(m.Name()), -1)
			subject := strings.ToLower(service + "." + name[0] + "." + strings.Join(name[1:], "_"))
			want = append(want, []string{subject, string(m.FullName()), strings.Join(fields, ", ")})
		}
	}
	var got [][]string
	for _, row := range table(t, "docs/events.md", "## Catalogue") {
		require.NotEmpty(t, row[2], row[0])
		got = append(got, []string{plain(row[0]), plain(row[1]), plain(row[3])})
	}
	require.ElementsMatch(t, want, got)
}

func TestExampleEvent(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("events.md")
	require.NoError(t, err)
	_, example, _ := strings.Cut(string(page), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	require.NoError(t, protojson.Unmarshal([]byte(example), &ledgerv1.TransactionCreated{}))
}

func plain(cell string) string { return strings.ReplaceAll(cell, "`", "") }
