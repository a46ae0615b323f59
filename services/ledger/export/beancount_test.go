package export

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestBeancountAcceptsExports requires that beancount accepts ledgers with hostile names, and
// computes the balances of the wallets.
func TestBeancountAcceptsExports(t *testing.T) {
	t.Parallel()
	requireJournals(t, requireBeancount)
}

// requireBeancount requires that bean-check accepts a ledger with an assertion of each balance.
func requireBeancount(
	t *testing.T, books books, entries []entry, balances map[uuid.UUID]map[string]int64,
) {
	t.Helper()
	var ledger strings.Builder
	encoder := newBeancount(&ledger, nil).(*beancountEncoder)
	encode(t, encoder, books, entries)
	ledger.WriteString("\n")
	for id, held := range balances {
		for code, minor := range held {
			amount, currency, _ := strings.Cut(amountOf(minor, code), " ")
			fmt.Fprintf(&ledger, "2030-01-01 balance %s  %s ~ 0 %s\n", encoder.assets[id],
				amount, currency)
		}
	}
	file := filepath.Join(t.TempDir(), "coffer.beancount")
	require.NoError(t, os.WriteFile(file, []byte(ledger.String()), 0o600))
	command := exec.CommandContext(t.Context(), "bean-check", "--no-cache", file)
	command.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, ledger.String())
	require.Empty(t, string(out))
}
