package pg

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// listCapacity is the number of rows for which a result with a second row has room after its first
// one: a page of 50, and the row that shows whether another page follows.
const listCapacity = 50

// One runs a query and scans its single row into T's fields by column name. It returns
// pgx.ErrNoRows or pgx.ErrTooManyRows if the query does not return exactly one row.
func One[T any](ctx context.Context, q Querier, sql string, args ...any) (T, error) {
	var zero T
	all, err := All[T](ctx, q, sql, args...)
	switch {
	case err != nil:
		return zero, err
	case len(all) == 0:
		return zero, named(pgx.ErrNoRows)
	case len(all) > 1:
		return zero, named(pgx.ErrTooManyRows)
	}
	return all[0], nil
}

// All runs a query and scans its rows into T's fields by column name. Without rows it returns an
// empty slice, never nil. Each field must have a column and each column a field; the db tag names
// the column if it differs from the field.
func All[T any](ctx context.Context, q Querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, named(err)
	}
	all, err := collect[T](rows)
	return all, named(err)
}

// collect scans rows into T's fields by column name. It maps columns to fields once per query.
// pgx's RowToStructByName caches the mapping, but looks it up for each row, and allocates the
// targets of each row: a page of 50 rows then takes about twice as long and 3.7 times the memory
// (BenchmarkPage, ADR 69).
func collect[T any](rows pgx.Rows) ([]T, error) {
	defer rows.Close()
	var row T
	var targets []any
	all := []T{}
	for rows.Next() {
		if targets == nil {
			var err error
			targets, err = fields(reflect.ValueOf(&row).Elem(), rows.FieldDescriptions())
			if err != nil {
				return nil, err
			}
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		if len(all) == 1 {
			// A result with a second row is usually a page.
			all = slices.Grow(all, listCapacity)
		}
		all = append(all, row)
		row = *new(T)
	}
	return all, rows.Err()
}

// fields returns pointers to a struct's fields in the order of the columns. It is an error if a
// field has no column or a column has no field.
func fields(row reflect.Value, columns []pgconn.FieldDescription) ([]any, error) {
	targets := make([]any, len(columns))
	for _, field := range namesOf(row.Type()) {
		found := false
		for i, c := range columns {
			if strings.EqualFold(c.Name, field.name) {
				targets[i], found = row.FieldByIndex(field.index).Addr().Interface(), true
			}
		}
		if !found {
			return nil, fmt.Errorf("the query returns no column for the field %s", field.name)
		}
	}
	for i, c := range columns {
		if targets[i] == nil {
			return nil, fmt.Errorf("the struct has no field for the column %s", c.Name)
		}
	}
	return targets, nil
}

type namedField struct {
	name  string
	index []int
}

var names sync.Map

// namesOf returns the fields of a struct type, including those of embedded structs and without
// those tagged db:"-".
func namesOf(kind reflect.Type) []namedField {
	if known, ok := names.Load(kind); ok {
		return known.([]namedField)
	}
	var found []namedField
	for _, field := range reflect.VisibleFields(kind) {
		if field.Anonymous {
			continue
		}
		name, tagged := field.Tag.Lookup("db")
		if !tagged {
			name = field.Name
		}
		if name == "-" {
			continue
		}
		found = append(found, namedField{name, field.Index})
	}
	names.Store(kind, found)
	return found
}

// Value runs a query and returns the single value of its single row. Errors are those of One.
func Value[T any](ctx context.Context, q Querier, sql string, args ...any) (T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return *new(T), named(err)
	}
	value, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	return value, named(err)
}

// Values runs a query and returns the single value of each row. Without rows it returns an empty
// slice, never nil.
func Values[T any](ctx context.Context, q Querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, named(err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[T])
	return values, named(err)
}

// Exec runs a statement that returns no rows.
func Exec(ctx context.Context, q Querier, sql string, args ...any) error {
	_, err := q.Exec(ctx, sql, args...)
	return named(err)
}

// Affected runs a statement and reports whether it wrote a row.
func Affected(ctx context.Context, q Querier, sql string, args ...any) (bool, error) {
	tag, err := q.Exec(ctx, sql, args...)
	return tag.RowsAffected() > 0, named(err)
}

// named adds the function that ran a statement to its error: "accounts.selectWallet: ...". So a
// query needs no text of its own that says the same.
func named(err error) error {
	if err == nil {
		return nil
	}
	var callers [8]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		frame, more := frames.Next()
		name := frame.Function[strings.LastIndexByte(frame.Function, '/')+1:]
		if !strings.HasPrefix(name, "pg.") {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !more {
			return err
		}
	}
}

// IfNoRows returns unknown if a query found no row, and otherwise its error.
func IfNoRows(err, unknown error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return unknown
	}
	return err
}

// Lock serializes the transactions that change the number of a user's objects, so that concurrent
// ones cannot exceed a limit. It holds until tx ends.
func Lock(ctx context.Context, tx pgx.Tx, objects string, user uuid.UUID) error {
	return Exec(ctx, tx, `SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))`,
		objects, user.String())
}
