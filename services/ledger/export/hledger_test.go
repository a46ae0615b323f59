package export

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/money"
)

// TestHledgerAcceptsExports requires that hledger accepts journals with hostile names, and computes
// the balances of the wallets.
func TestHledgerAcceptsExports(t *testing.T) {
	t.Parallel()
	requireJournals(t, requireHledger)
}

// requireHledger requires that hledger computes these balances from a journal.
func requireHledger(
	t *testing.T, books books, entries []entry, balances map[uuid.UUID]map[string]int64,
) {
	t.Helper()
	var journal strings.Builder
	encoder := newHledger(&journal, nil).(*hledgerEncoder)
	encode(t, encoder, books, entries)
	file := filepath.Join(t.TempDir(), "coffer.journal")
	require.NoError(t, os.WriteFile(file, []byte(journal.String()), 0o600))
	hledger := func(args ...string) string {
		command := exec.CommandContext(t.Context(), "hledger",
			append([]string{"-f", file}, args...)...)
		command.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s\n%s", out, journal.String())
		return string(out)
	}
	hledger("check", "accounts", "commodities", "balancednoautoconversion")
	out := hledger("balance", "^assets:", "--flat", "-N", "--layout", "bare", "-O", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	got, want := map[string]string{}, map[string]string{}
	for _, row := range rows[1:] {
		if strings.Trim(row[2], "0.") != "" {
			got[row[0]+" "+row[1]] = row[2]
		}
	}
	for id, held := range balances {
		for code, minor := range held {
			if minor != 0 {
				want[encoder.assets[id]+" "+code] = money.CurrencyOf(code).Format(minor)
			}
		}
	}
	require.Equal(t, want, got, "%s", journal.String())
}
