package chaos

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/test/programs"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(runTests(m))
}

// runTests runs the tests and removes the programs that they have built.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "coffer-chaos-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	buildHealthy = sync.OnceValues(func() (string, error) {
		return dir, programs.Build(context.Background(), dir)
	})
	return m.Run()
}

// buildHealthy returns the folder of the programs without defects. The first call builds them.
var buildHealthy func() (string, error)

// TestRunUnderFaults is the short form of `make chaos`.
func TestRunUnderFaults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	dir, err := buildHealthy()
	require.NoError(t, err)
	// This seed breaks each kind of part within the time.
	report, err := Run(t.Context(), Options{
		Seed: 1562, Length: 12 * time.Second, Users: 6, EventTimeout: time.Minute, Programs: dir,
		Log: t.Output(),
	})
	require.NoError(t, err)
	t.Log(report)
	require.Empty(t, report.Findings)
	require.Greater(t, report.Acknowledged, int64(100), "there was something to lose")
	require.Positive(t, report.Faults)
}

func TestMarksIgnoreTokens(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"name":"u978"}`, `{"email":"u978@example.com"}`, `{"description":"u978 t1;"}`,
		`no category u978, sorry`,
	} {
		require.Equal(t, "u978", marks.FindStringSubmatch(text)[1], text)
	}
	for _, text := range []string{
		`{"accessToken":"eyJh.b-u978-c.d"}`, `{"nextCursor":"u978-bc"}`, `{"id":"au978"}`,
	} {
		require.Empty(t, marks.FindString(text), text)
	}
}

// defect is a change of the ledger that violates a guarantee.
type defect struct {
	name string
	programs.Change
	// finds is a substring of the expected finding.
	finds string
}

// mutants are defective ledgers. The findings of the defects of one ledger differ, so that one run
// shows all of them.
var mutants = []struct {
	name string
	// breaks selects the faults that expose the defects.
	breaks  string
	defects []defect
}{
	{name: "lost effects", breaks: "auth", defects: []defect{
		{"no outbox", programs.Change{
			File: "services/ledger/posting/store_postings.go",
			Old:  "WHERE event_id IS NOT NULL", New: "WHERE false",
		}, "no event was published for"},
		{"no ownership", programs.Change{
			File: "services/ledger/posting/store_transactions.go",
			Old:  "WHERE t.owner_id = $1 AND t.id = $2`",
			New:  "WHERE $1::uuid <> t.id AND t.id = $2`",
		}, "accessed"},
		{"a leg remains", programs.Change{
			File: "services/ledger/transfers/write.go",
			Old:  "posting.Delete(ctx, tx, t.legs()...)", New: "posting.Delete(ctx, tx, t.Out)",
		}, "has 1 of 2 legs"},
		{"an undo keeps the sums", programs.Change{
			File: "services/ledger/imports/booking/undo.go",
			Old:  "posting.Remove(ctx, tx, ts...)", New: "ctx.Err()",
		}, "the wallet of imports holds"},
		{"an undo keeps what the commit created", programs.Change{
			File: "services/ledger/imports/booking/prepare.go",
			Old:  "staging.InsertCreations(ctx, tx, imp.OwnerID, imp.ID, created)",
			New:  "staging.InsertCreations(ctx, tx, imp.OwnerID, imp.ID, created[:0])",
		}, "is left after the undo"},
		{"renames lose tags", programs.Change{
			File: "services/ledger/tags/store_tags.go",
			Old:  "array_replace(tags, $2, $3)", New: "array_remove(tags, $2)",
		}, "but may be only"},
		{"devices miss deletions", programs.Change{
			File: "services/ledger/sync/store_sync.go",
			Old:  "(seq > $2 OR (kind, id)",
			New:  "false AND (seq > $2 OR (kind, id)",
		}, "which is deleted"},
	}},
	{name: "wrong effects", breaks: "auth", defects: []defect{
		{"no idempotency", programs.Change{
			File: "services/ledger/posting/store_postings.go",
			Old:  "WHERE key_hash IS NULL OR response IN (SELECT response FROM claim)",
			New:  "WHERE true",
		}, "was repeated with its key"},
		{"no totals in merges", programs.Change{
			File: "services/ledger/accounts/categories.go",
			Old:  "err := mergeTotals(ctx, tx, owner, from, target)", New: "var err error",
		}, "ledger verify"},
		{"wrong parts", programs.Change{
			File: "services/ledger/posting/store_postings.go",
			Old:  "p.amount_minor, p.description\n",
			New:  "2 * p.amount_minor AS amount_minor, p.description\n",
		}, "but may be only"},
		{"the wrong attachment is deleted", programs.Change{
			File: "services/ledger/attachments/store_attachments.go",
			Old:  "DELETE FROM attachments WHERE owner_id = $1 AND id = $2 AND status = 'ready'",
			New: "DELETE FROM attachments WHERE id = (SELECT id FROM attachments " +
				"WHERE owner_id = $1 AND $2::uuid IS NOT NULL AND status = 'ready' " +
				"ORDER BY id LIMIT 1)",
		}, "attachments and the count"},
	}},
	{name: "unconfirmed writes", breaks: "postgres", defects: []defect{
		{"no wait for the commit", programs.Change{
			File: "services/ledger/transactions/batcher.go",
			Old:  "\tdefault:\n\t\tfail(group, err)",
			New: "\tdefault:\n\t\tfor _, p := range group {\n\t\t\t" +
				"p.done <- outcome{written: true}\n\t\t}",
		}, "was acknowledged and is lost"},
	}},
	{name: "unconfirmed events", breaks: "stop nats", defects: []defect{
		{"no retry of publishing", programs.Change{
			File: "internal/outbox/relay.go",
			Old:  "n, err := b.publish(ctx, entries)\n",
			New: "for _, e := range entries {\n" +
				"\t\t_, _ = conn.Exec(ctx, `DELETE FROM outbox WHERE seq = $1`, e.Seq)\n\t}\n" +
				"\tn, err := b.publish(ctx, entries)\n",
		}, "no event was published for"},
	}},
}

// TestRunFindsDefects requires that the checks detect known defects of the ledger.
func TestRunFindsDefects(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	healthy, err := buildHealthy()
	require.NoError(t, err)
	for _, tc := range mutants {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir, changes, missing := t.TempDir(), []programs.Change{}, map[string]string{}
			for _, d := range tc.defects {
				changes, missing[d.name] = append(changes, d.Change), d.finds
			}
			require.NoError(t, programs.BuildLedger(t.Context(), dir, healthy, changes...))
			// On a busy machine, the operations and faults of a short run may not expose each
			// defect: one operation in 200 renames a tag.
			seed, length := uint64(1), 4*time.Second
			for ; len(missing) > 0 && length <= 5*time.Minute; length *= 2 {
				report, err := Run(t.Context(), Options{
					Seed: seed, Length: length, Users: 4, Only: tc.breaks,
					EventTimeout: 15 * time.Second, Programs: dir, Log: t.Output(),
				})
				require.NoError(t, err)
				findings := strings.Join(report.Findings, "\n")
				t.Log(findings)
				maps.DeleteFunc(missing,
					func(_, finds string) bool { return strings.Contains(findings, finds) })
				seed++
			}
			require.Empty(t, missing)
		})
	}
}
