// Package distribution distributes the tables of the ledger over the servers of a cluster of Citus.
//
// `ledger migrate` calls Run after the migrations. It does nothing unless LEDGER_DISTRIBUTED=citus
// is set. Each table with rows of owners becomes a distributed table, so that the rows of an owner,
// also the events and the idempotency records, are in one shard. No table is read together with the
// rows of many owners, so there are no reference tables. Run can be
// repeated: it distributes the tables that are not distributed yet, in one transaction.
//
// docs/scale.md describes the operation of a cluster.
package distribution

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
)

// Citus is the value of LEDGER_DISTRIBUTED for a cluster of Citus.
const Citus = "citus"

// errNoCitus is returned if the database of the ledger is not part of a cluster.
var errNoCitus = errors.New("LEDGER_DISTRIBUTED is set, but the database has no extension " +
	"citus: run CREATE EXTENSION citus in it on the coordinator and on each worker, as superuser")

// Command returns the part of `ledger migrate` that follows the migrations.
func Command() app.Command {
	return app.Command{
		Name: "migrate",
		Run: func(ctx context.Context, databaseURL string, _ []string, _ io.Writer) error {
			config, err := app.ParseEnv[struct {
				Distributed string `env:"LEDGER_DISTRIBUTED"`
			}](nil)
			if err != nil {
				return err
			}
			return Run(ctx, databaseURL, "ledger", config.Distributed)
		},
	}
}

// Check returns an error if the value of LEDGER_DISTRIBUTED is neither empty nor Citus.
func Check(distributed string) error {
	if distributed != "" && distributed != Citus {
		return fmt.Errorf("LEDGER_DISTRIBUTED is %q: must be empty or %q", distributed, Citus)
	}
	return nil
}

// Relay publishes the events of the pool's schema until ctx ends. The outbox is distributed like
// the other tables.
func Relay(ctx context.Context, distributed string, bus *outbox.Bus, pool *pgxpool.Pool) {
	if distributed == Citus {
		bus.RelayDistributed(ctx, pool)
	} else {
		bus.Relay(ctx, pool)
	}
}

// Run distributes the tables of a schema if distributed is Citus, and does nothing if it is empty.
// The URL's role owns the tables.
func Run(ctx context.Context, databaseURL, schema, distributed string) error {
	if err := Check(distributed); err != nil || distributed == "" {
		return err
	}
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		// pgx's error may contain the password.
		return errors.New("the database URL is not a valid postgres:// URL")
	}
	config.RuntimeParams["search_path"] = schema
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connecting to distribute the tables: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return distribute(ctx, tx) })
	if err != nil {
		return fmt.Errorf("distributing the tables: %w", err)
	}
	return nil
}

// distribute distributes all tables that are not distributed yet. The lock serializes concurrent
// migrations.
func distribute(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('coffer distribution'))`)
	if err != nil {
		return fmt.Errorf("locking: %w", err)
	}
	installed, err := pg.Value[bool](ctx, tx,
		`SELECT to_regproc('create_distributed_table') IS NOT NULL`)
	if err != nil {
		return fmt.Errorf("looking for Citus: %w", err)
	}
	if !installed {
		return errNoCitus
	}
	tables, err := selectTables(ctx, tx)
	if err != nil {
		return err
	}
	ordered, err := order(tables)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(ordered, func(t table) bool { return !t.Distributed }) {
		return nil
	}
	// Triggers are allowed because they touch rows of the same owner only, and so of the same
	// shard. Foreign keys between tables that are distributed in one transaction need the
	// sequential mode.
	_, err = tx.Exec(ctx, `SELECT set_config('citus.enable_unsafe_triggers', 'on', true),
		set_config('citus.multi_shard_modify_mode', 'sequential', true)`)
	if err != nil {
		return fmt.Errorf("allowing triggers: %w", err)
	}
	if err := replaceActions(ctx, tx); err != nil {
		return err
	}
	for _, table := range ordered {
		if table.Distributed {
			continue
		}
		_, err := tx.Exec(ctx, Keys[table.Name], pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return fmt.Errorf("replacing the key of table %s: %w", table.Name, err)
		}
		colocated := ordered[0].Name
		if table.Name == colocated {
			colocated = "none"
		}
		_, err = tx.Exec(ctx, `
			SELECT create_distributed_table($1::text::regclass, $2, colocate_with => $3)`,
			table.Name, table.Owner, colocated)
		if err != nil {
			return fmt.Errorf("distributing table %s: %w", table.Name, err)
		}
	}
	return nil
}

// Keys has statements for the tables whose primary keys do not contain the owner in one database.
// They replace a key with one that does, and keep its name, which statements of the service use. An
// owner's events are few, so the relay reads them by an index of their numbers (ADR 126).
var Keys = map[string]string{
	"idempotency_keys": `
		ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey,
			ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (owner_id, key_hash)`,
	"outbox": `
		ALTER TABLE outbox DROP CONSTRAINT outbox_pkey,
			ADD CONSTRAINT outbox_pkey PRIMARY KEY (user_id, seq);
		CREATE INDEX outbox_seq ON outbox (seq)`,
}

// table is a table with a column for the owner.
type table struct {
	Name        string
	Distributed bool
	// Owner is the name of the column.
	Owner string
	// References are the other tables that its foreign keys name.
	References []string
}

// selectTables returns the tables of the schema with a column for the owner: owner_id, or user_id
// in the outbox, which has the same form in all services. The ones that are distributed come first,
// so that the first of all determines the shards of the others.
func selectTables(ctx context.Context, tx pgx.Tx) ([]table, error) {
	tables, err := pg.All[table](ctx, tx, `
		SELECT c.relname AS name, a.attname AS owner,
			EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = c.oid) AS distributed,
			ARRAY(
				SELECT DISTINCT f.confrelid::regclass::text
				FROM pg_constraint f
				WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid
				ORDER BY 1) AS references
		FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
			AND a.attname = CASE c.relname WHEN 'outbox' THEN 'user_id' ELSE 'owner_id' END
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
		ORDER BY distributed DESC, c.relname`)
	if err != nil {
		return nil, fmt.Errorf("selecting the tables: %w", err)
	}
	return tables, nil
}

// order sorts tables so that each follows the tables that it references: Citus rejects a foreign
// key to a table that is not distributed.
func order(tables []table) ([]table, error) {
	var ordered []table
	placed := map[string]bool{}
	for len(ordered) < len(tables) {
		before := len(ordered)
		for _, t := range tables {
			missing := func(name string) bool { return !placed[name] }
			if placed[t.Name] || slices.ContainsFunc(t.References, missing) {
				continue
			}
			placed[t.Name] = true
			ordered = append(ordered, t)
		}
		if len(ordered) == before {
			return nil, errors.New("foreign keys reference each other in a circle, " +
				"or reference a table without owner_id")
		}
	}
	return ordered, nil
}

// replaceActions removes ON DELETE SET NULL from foreign keys, which Citus rejects in a key with
// the distribution column. The service clears these columns before it deletes the referenced row.
func replaceActions(ctx context.Context, tx pgx.Tx) error {
	statements, err := pg.Values[string](ctx, tx, `
		SELECT format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %2$I %s',
			conrelid::regclass, conname,
			regexp_replace(pg_get_constraintdef(oid), ' ON DELETE SET NULL \([^)]*\)', ''))
		FROM pg_constraint
		WHERE connamespace = current_schema()::regnamespace AND contype = 'f' AND confdeltype = 'n'
		ORDER BY 1`)
	if err != nil {
		return fmt.Errorf("selecting foreign keys: %w", err)
	}
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("replacing a foreign key: %w", err)
		}
	}
	return nil
}
