package pg

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// manyRows is what a list has room for from its second row on.
const manyRows = 64

// One runs a query for a single row, by column name into T's fields; pgx.ErrNoRows when there is none.
func One[T any](ctx context.Context, q Querier, sql string, args ...any) (T, error) {
	var zero T
	all, err := All[T](ctx, q, sql, args...)
	switch {
	case err != nil:
		return zero, err
	case len(all) == 0:
		return zero, pgx.ErrNoRows
	case len(all) > 1:
		return zero, pgx.ErrTooManyRows
	}
	return all[0], nil
}

// All runs a query for any number of rows, by column name into T's fields.
func All[T any](ctx context.Context, q Querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return collect[T](rows)
}

// collect reads rows by column name into T's fields. It finds the fields once for all rows: pgx's own RowToStructByName does
// so for each, which costs as much as reading it.
func collect[T any](rows pgx.Rows) ([]T, error) {
	defer rows.Close()
	var row T
	var targets []any
	all := []T{}
	for rows.Next() {
		if targets == nil {
			var err error
			if targets, err = fields(reflect.ValueOf(&row).Elem(), rows.FieldDescriptions()); err != nil {
				return nil, err
			}
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		if len(all) == 1 {
			// Where there is a second row, there are often fifty.
			all = slices.Grow(all, manyRows)
		}
		all = append(all, row)
		row = *new(T)
	}
	return all, rows.Err()
}

// fields points to those of a struct that the columns are named like, and wants each to have one. A field is named by its db
// tag, or else by itself.
func fields(of reflect.Value, columns []pgconn.FieldDescription) ([]any, error) {
	targets := make([]any, len(columns))
	for _, field := range namesOf(of.Type()) {
		found := false
		for i, c := range columns {
			if strings.EqualFold(c.Name, field.name) {
				targets[i], found = of.FieldByIndex(field.index).Addr().Interface(), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no column is named like %s", field.name)
		}
	}
	for i, c := range columns {
		if targets[i] == nil {
			return nil, fmt.Errorf("no field is named like the column %s", c.Name)
		}
	}
	return targets, nil
}

// named is a field of a struct.
type named struct {
	name  string
	index []int
}

// names caches them by the struct's type.
var names sync.Map

func namesOf(t reflect.Type) []named {
	if known, ok := names.Load(t); ok {
		return known.([]named)
	}
	var found []named
	for _, field := range reflect.VisibleFields(t) {
		if field.Anonymous {
			continue
		}
		name, tagged := field.Tag.Lookup("db")
		if !tagged {
			name = field.Name
		}
		found = append(found, named{name, field.Index})
	}
	names.Store(t, found)
	return found
}
