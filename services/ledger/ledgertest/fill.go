// Package ledgertest fills a ledger's schema with millions of transactions in one or two minutes,
// for tests of query plans and for benchmarks.
//
// Fill bypasses the service, but writes all of its tables except events: balances and totals are
// consistent with the transactions. An Owner states the number of transactions and of years; the
// constants describe the rest of the content. fill.sql has the statements. Fill drops the indexes
// meanwhile and creates them again.
package ledgertest

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Owner describes a user to fill: the number of transactions, and the years before until over which
// they are spread evenly.
type Owner struct {
	ID           uuid.UUID
	Transactions int
	Years        int
}

// Numbers of wallets and categories per owner. All wallets are in EUR. One of a thousand
// transactions is in JPY.
const (
	Wallets    = 2
	Categories = 5
)

//go:embed fill.sql
var fill string

//go:embed fill.go
var source string

// Version returns a text that changes with the rows that Fill inserts.
func Version(until time.Time, owners ...Owner) string {
	return fmt.Sprint(source, fill, until, owners)
}

// Fill creates wallets, categories and transactions until a time, for owners without data. It also
// writes everything that the service derives from them, except events. The connection belongs to a
// superuser and has the ledger's schema in its search_path.
func Fill(ctx context.Context, conn *pgx.Conn, until time.Time, owners ...Owner) error {
	ids := make([]uuid.UUID, len(owners))
	counts := make([]int, len(owners))
	years := make([]int, len(owners))
	for i, o := range owners {
		ids[i], counts[i], years[i] = o.ID, o.Transactions, o.Years
	}
	// VACUUM marks a page as visible to all only if the commit of its rows has been flushed, and so
	// have commits soon after it. Otherwise plans avoid index-only scans.
	_, err := conn.Exec(ctx, `SET synchronous_commit = on`)
	if err != nil {
		return fmt.Errorf("setting up the connection: %w", err)
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			CREATE TEMP TABLE filled ON COMMIT DROP AS
			SELECT o.*, $4::timestamptz AS until, $5::int AS wallets, $6::int AS categories,
				$7::text AS prefix
			FROM unnest($1::uuid[], $2::bigint[], $3::int[])
				WITH ORDINALITY AS o (id, transactions, years, n)`,
			ids, counts, years, until, Wallets, Categories, owners[0].ID.String()[28:])
		if err != nil {
			return err
		}
		indexes, err := dropIndexes(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, fill, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		for _, create := range indexes {
			if _, err := tx.Exec(ctx, create); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_, err = conn.Exec(ctx,
			`VACUUM ANALYZE wallets, categories, transactions, wallet_balances, monthly_totals`)
	}
	if err != nil {
		return fmt.Errorf("filling the ledger: %w", err)
	}
	return nil
}

// dropIndexes drops the indexes of transactions and returns the statements that create them again.
// Creating them after the inserts is ten times as fast as updating them row by row. The order of
// creation is preserved, because PostgreSQL chooses the newest of several indexes with equal cost.
func dropIndexes(ctx context.Context, tx pgx.Tx) (create []string, err error) {
	type index struct{ Name, Definition string }
	rows, err := tx.Query(ctx, `
		SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
		FROM pg_index
		WHERE indrelid = 'transactions'::regclass AND NOT indisprimary
		ORDER BY indexrelid`)
	if err != nil {
		return nil, err
	}
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByName[index])
	if err != nil {
		return nil, err
	}
	for _, i := range indexes {
		if _, err := tx.Exec(ctx, `DROP INDEX `+i.Name); err != nil {
			return nil, err
		}
		create = append(create, i.Definition)
	}
	return create, nil
}
