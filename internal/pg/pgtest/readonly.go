package pgtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// ReadOnly returns a pool on the database of another one, whose transactions are read-only:
// PostgreSQL rejects each statement that writes, locks a row or takes a number of a sequence.
// denied returns the rejected statements, also those whose error the code ignores.
func ReadOnly(t testing.TB, db *pgxpool.Pool) (pool *pgxpool.Pool, denied func() []string) {
	t.Helper()
	writes := &deniedWrites{}
	config := db.Config()
	config.ConnConfig.Tracer = writes
	config.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool, writes.all
}

// deniedWrites collects the statements that PostgreSQL rejected because they write.
type deniedWrites struct {
	mu         sync.Mutex
	statements []string
}

type statementKey struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (d *deniedWrites) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData,
) context.Context {
	return context.WithValue(ctx, statementKey{}, data.SQL)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (d *deniedWrites) TraceQueryEnd(
	ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData,
) {
	sql, _ := ctx.Value(statementKey{}).(string)
	d.check(sql, data.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (d *deniedWrites) TraceBatchStart(
	ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData,
) context.Context {
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (d *deniedWrites) TraceBatchQuery(
	_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData,
) {
	d.check(data.SQL, data.Err)
}

// TraceBatchEnd implements pgx.BatchTracer.
func (d *deniedWrites) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (d *deniedWrites) check(sql string, err error) {
	const readOnlyTransaction = "25006"
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == readOnlyTransaction {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.statements = append(d.statements, sql)
	}
}

func (d *deniedWrites) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.statements)
}
