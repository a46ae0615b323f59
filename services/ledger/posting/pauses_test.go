package posting_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// pauses lists the points at which the tests can stop a write: before it writes its first row of a
// table, or after the statement has written its rows and before PostgreSQL checks their foreign
// keys.
var pauses = []string{
	"BEFORE owners", "BEFORE monthly_totals", "BEFORE transactions", "AFTER transactions",
	"BEFORE categories", "BEFORE wallets", "BEFORE rules", "BEFORE budget_references",
	"BEFORE outbox",
}

// installPauses makes a write of an owner wait at the points for as long as hold keeps that point's
// lock for the owner. It removes the triggers of other points, because each trigger costs processor
// time for each row. Triggers fire in the order of their names, so "A_pause_" precedes the "RI_"
// triggers that check foreign keys.
func installPauses(t *testing.T, db *pgxpool.Pool, points ...string) {
	t.Helper()
	_, err := db.Exec(t.Context(), `DROP SCHEMA IF EXISTS pauses CASCADE`)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `CREATE SCHEMA pauses`)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), numberEvents, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	for _, point := range points {
		var when, table string
		_, err := fmt.Sscan(point, &when, &table)
		require.NoError(t, err)
		owner := "owner_id"
		if table == "outbox" {
			owner = "user_id"
		}
		_, err = db.Exec(t.Context(), fmt.Sprintf(`
			CREATE FUNCTION pauses.%[1]s_%[2]s() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN
				PERFORM pg_advisory_xact_lock_shared(hashtext('%[1]s %[2]s'),
					hashtext(coalesce(NEW.%[3]s, OLD.%[3]s)::text));
				RETURN coalesce(NEW, OLD);
			END $$;
			CREATE TRIGGER "A_pause_%[1]s" %[1]s INSERT OR UPDATE OR DELETE ON %[2]s
			FOR EACH ROW EXECUTE FUNCTION pauses.%[1]s_%[2]s()`, when, table, owner),
			pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
	}
}

// numberEvents stores in each event the number that its transaction has taken for the owner, or -1.
const numberEvents = `
	ALTER TABLE outbox ADD COLUMN IF NOT EXISTS write bigint;
	CREATE FUNCTION pauses.number_event() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		NEW.write := taken_seq(NEW.user_id);
		RETURN NEW;
	END $$;
	CREATE TRIGGER number_event BEFORE INSERT ON outbox
	FOR EACH ROW EXECUTE FUNCTION pauses.number_event()`

// requireEventOrder requires that the events of each owner have the order of the owner's writes,
// which is that of their commits: the relay publishes them by seq. A write takes the owner's number
// before that of its event, so that a later write cannot take a lower seq. Imports have no number:
// devices do not follow them.
func (p pausedServer) requireEventOrder(t *testing.T, pairs map[uuid.UUID]string) {
	t.Helper()
	type event struct {
		Owner           uuid.UUID `db:"user_id"`
		Subject         string
		Write, Previous int64
	}
	events, err := pg.All[event](t.Context(), p.DB, `
		SELECT user_id, subject, write,
			coalesce(max(write) OVER (PARTITION BY user_id ORDER BY seq
				ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS previous
		FROM outbox
		WHERE write IS NOT NULL`)
	require.NoError(t, err)
	for _, e := range events {
		unnumbered := e.Write < 0 && strings.HasPrefix(e.Subject, "ledger.v1.import.")
		if pair, ok := pairs[e.Owner]; ok && !unnumbered {
			assert.GreaterOrEqual(t, e.Write, e.Previous, "%s: %s", pair, e.Subject)
		}
	}
}

// pausedServer is a server whose writes the test can stop and watch, because its connections bear
// its name.
type pausedServer struct {
	*service
	// replica uses the same database, and has a separate batcher.
	replica *service
	name    string
	// deadlocks counts the statements that PostgreSQL canceled to end a deadlock.
	deadlocks *atomic.Int64
	// control is a connection that does not bear the name.
	control *pgx.Conn
}

func newPausedServer(t *testing.T, service *service, name string) pausedServer {
	t.Helper()
	var deadlocks deadlockTracer
	config := service.DB.Config()
	config.MaxConns = 4
	config.ConnConfig.Tracer = &deadlocks
	config.ConnConfig.RuntimeParams["application_name"] = name + " " + config.ConnConfig.Database
	config.ConnConfig.RuntimeParams["deadlock_timeout"] = "20ms"
	db, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	control, err := pgx.ConnectConfig(t.Context(), service.DB.Config().ConnConfig)
	require.NoError(t, err)
	t.Cleanup(func() { _ = control.Close(context.Background()) })
	p := pausedServer{
		name:      config.ConnConfig.RuntimeParams["application_name"],
		deadlocks: &deadlocks.Int64,
		control:   control,
	}
	p.service, p.replica = serve(t.Context(), fixture.On(db)), serve(t.Context(), fixture.On(db))
	return p
}

// deadlockTracer is a pgx.QueryTracer that counts deadlocks.
type deadlockTracer struct{ atomic.Int64 }

// TraceQueryStart implements pgx.QueryTracer.
func (*deadlockTracer) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData,
) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (d *deadlockTracer) TraceQueryEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	if pg.IsRetryable(data.Err) {
		d.Add(1)
	}
}

// hold stops writes of an owner at a point until release is called.
func (p pausedServer) hold(t *testing.T, pause string, owner uuid.UUID) (release func()) {
	t.Helper()
	// The lock is the session's: within a transaction, pg_stat_activity would not change.
	do := func(function string) {
		_, err := p.control.Exec(t.Context(), `SELECT `+function+`(hashtext($1), hashtext($2))`,
			pause, owner.String())
		require.NoError(t, err)
	}
	do("pg_advisory_lock")
	return func() { do("pg_advisory_unlock") }
}

// start runs a write, and returns when it has ended or count of the server's connections wait for
// locks.
func (p pausedServer) start(t *testing.T, count int, write func() error) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- write() }()
	for deadline := time.Now().Add(time.Minute); ; {
		var waiting int
		err := p.control.QueryRow(t.Context(), `
			SELECT count(*)
			FROM pg_stat_activity
			WHERE application_name = $1 AND wait_event_type = 'Lock'`, p.name).Scan(&waiting)
		require.NoError(t, err)
		if waiting >= count || len(ended) > 0 {
			return ended
		}
		require.True(t, time.Now().Before(deadline), "the write neither ends nor waits")
		// The query costs more than most writes. Without this pause, it would take the processors
		// from them.
		time.Sleep(time.Millisecond)
	}
}

// reached returns the points at which a write stops, in the order of pauses. All pauses must be
// installed. One write finds all points: it is stopped and released at each of them.
func (p pausedServer) reached(t *testing.T, first request) []string {
	t.Helper()
	h := p.newHoldings(t, 1)[0]
	first.setUp(t, &h)
	releases := map[string]func(){}
	for _, pause := range pauses {
		releases[pause] = p.hold(t, pause, h.ID)
	}
	ended := p.start(t, 1, func() error { return first.write(h) })
	for deadline := time.Now().Add(time.Minute); len(ended) == 0; {
		require.True(t, time.Now().Before(deadline), "the write neither ends nor waits")
		for _, point := range p.waitedFor(t) {
			if release := releases[point]; release != nil {
				release()
				delete(releases, point)
			}
		}
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, <-ended)
	reached := slices.DeleteFunc(slices.Clone(pauses), func(pause string) bool {
		return releases[pause] != nil
	})
	for _, release := range releases {
		release()
	}
	return reached
}

// waitedFor returns the points at which the server's connections wait.
func (p pausedServer) waitedFor(t *testing.T) []string {
	t.Helper()
	points, err := pg.Values[string](t.Context(), p.control, `
		SELECT point
		FROM unnest($1::text[]) point
		JOIN pg_locks l ON l.classid = (hashtext(point)::bigint & 4294967295)::oid
		JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE a.application_name = $2 AND l.locktype = 'advisory' AND NOT l.granted`,
		pauses, p.name)
	require.NoError(t, err)
	return points
}
