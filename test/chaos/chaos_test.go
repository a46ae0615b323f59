package chaos

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/test/programs"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// TestRunUnderFaults is the short form of `make chaos`.
func TestRunUnderFaults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	dir := t.TempDir()
	require.NoError(t, programs.Build(t.Context(), dir))
	// This seed breaks each kind of part within the time.
	report, err := Run(t.Context(), Options{Seed: 1562, Length: 12 * time.Second, Users: 6, EventTimeout: time.Minute, Programs: dir, Log: t.Output()})
	require.NoError(t, err)
	t.Log(report)
	require.Empty(t, report.Findings)
	require.Greater(t, report.Acknowledged, int64(100), "there was something to lose")
	require.Positive(t, report.Faults)
}

func TestMarksIgnoreTokens(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"name":"u978"}`, `{"email":"u978@example.com"}`, `{"description":"u978 t1;"}`, `no category u978, sorry`} {
		require.Equal(t, "u978", marks.FindStringSubmatch(text)[1], text)
	}
	for _, text := range []string{`{"accessToken":"eyJh.b-u978-c.d"}`, `{"nextCursor":"u978-bc"}`, `{"id":"au978"}`} {
		require.Empty(t, marks.FindString(text), text)
	}
}

// mutant is a defective ledger: in a file of the repository, one text is replaced by another.
type mutant struct {
	name, file, old, new string
	// breaks selects the faults that expose the defect, and finds is a substring of the expected finding.
	breaks, finds string
}

var mutants = []mutant{
	{
		name: "no outbox", file: "services/ledger/posting/store_postings.go",
		old: "WHERE event_id IS NOT NULL", new: "WHERE false",
		breaks: "auth", finds: "no event was published for",
	},
	{
		name: "no idempotency", file: "services/ledger/posting/store_postings.go",
		old: "WHERE key_hash IS NULL OR response IN (SELECT response FROM claim)", new: "WHERE true",
		breaks: "auth", finds: "was repeated with its key",
	},
	{
		name: "no ownership", file: "services/ledger/transactions/transactions.go",
		old: "if t.OwnerID != caller.Owner(ctx) {", new: "if caller.Owner(ctx) == uuid.Nil {",
		breaks: "auth", finds: "accessed",
	},
	{
		name: "no wait for the commit", file: "services/ledger/transactions/batcher.go",
		old:    "\tdefault:\n\t\tfail(group, err)",
		new:    "\tdefault:\n\t\tfor _, p := range group {\n\t\t\tp.done <- outcome{written: true}\n\t\t}",
		breaks: "postgres", finds: "was acknowledged and is lost",
	},
	{
		name: "no totals in merges", file: "services/ledger/accounts/categories.go",
		old: "err := mergeTotals(ctx, tx, owner, from, target)", new: "var err error",
		breaks: "auth", finds: "ledger verify",
	},
	{
		name: "a leg remains", file: "services/ledger/transfers/write.go",
		old: "posting.Delete(ctx, tx, t.legs()...)", new: "posting.Delete(ctx, tx, t.Out)",
		breaks: "auth", finds: "has 1 of 2 legs",
	},
	{
		name: "no retry of publishing", file: "internal/outbox/relay.go",
		old:    "published, err := b.publish(ctx, entries)\n",
		new:    "for _, e := range entries {\n\t\t_, _ = conn.Exec(ctx, `DELETE FROM outbox WHERE seq = $1`, e.Seq)\n\t}\n\tpublished, err := b.publish(ctx, entries)\n",
		breaks: "stop nats", finds: "no event was published for",
	},
}

// TestRunFindsDefects requires that the checks detect known defects of the ledger.
func TestRunFindsDefects(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	healthy := t.TempDir()
	require.NoError(t, programs.Build(t.Context(), healthy))
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, programs.BuildLedger(t.Context(), dir, healthy, m.file, map[string]string{m.old: m.new}))
			found := false
			// On a busy machine, the faults of one run may not expose the defect.
			for seed := uint64(1); seed <= 3 && !found; seed++ {
				report, err := Run(t.Context(), Options{Seed: seed, Length: 4 * time.Second, Users: 4, Only: m.breaks, EventTimeout: 15 * time.Second, Programs: dir, Log: t.Output()})
				require.NoError(t, err)
				t.Log(strings.Join(report.Findings, "\n"))
				found = slices.ContainsFunc(report.Findings, func(f string) bool { return strings.Contains(f, m.finds) })
			}
			require.True(t, found)
		})
	}
}
