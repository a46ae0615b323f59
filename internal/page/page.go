// Package page implements keyset pagination with opaque cursors.
//
// A list handler calls List. It gets the page size and the position after which the page starts
// from the request, selects one row more than the page size, and makes the cursor of the next page
// from the last row. A handler that needs other steps in between calls Cursors.Page and Cut itself.
//
// A position is any JSON value, usually the sort key of a row. A cursor is encrypted and bound to a
// scope: the list, its owner, filters and order. All replicas of a service accept each other's
// cursors.
package page

import (
	"encoding/base64"
	"encoding/json"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/seal"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const (
	defaultLimit = 50
	maxLimit     = 200
	// maxBytes limits the size of a page whose rows have long texts. A message between services has
	// at most rpc.MaxMessage.
	maxBytes = 2 << 20
)

// Limit returns the page size for the requested limit: 50 if absent, at most 200. A limit below 1
// is a field error.
func Limit(asked *int32) (int, *apierr.Field) {
	if asked == nil {
		return defaultLimit, nil
	}
	if *asked < 1 {
		return 0, &apierr.Field{Name: "limit", Message: "must be at least 1"}
	}
	return min(int(*asked), maxLimit), nil
}

// Cursors encrypts positions in a list, so that clients cannot read or forge them. A position may
// contain data of other users' rows.
type Cursors struct{ key seal.Key }

// NewCursors returns Cursors with a key derived from secret, which all replicas of a service share.
func NewCursors(secret string) Cursors { return Cursors{seal.NewKey(secret, "cursor")} }

// Seal returns an opaque cursor for a position. It can be opened with the same scope only: the
// list, its owner, filters and order.
func (c Cursors) Seal(scope string, position any) (string, error) {
	payload, err := json.Marshal(position)
	if err != nil {
		return "", err
	}
	sealed, err := c.key.Seal(payload, scope)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open decodes a cursor into position. It returns apierr.InvalidCursor if Seal did not make it for
// the same scope.
func (c Cursors) Open(scope, cursor string, position any) error {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return apierr.InvalidCursor
	}
	payload, err := c.key.Open(sealed, scope)
	if err != nil {
		return apierr.InvalidCursor
	}
	if err := json.Unmarshal(payload, position); err != nil {
		return apierr.InvalidCursor
	}
	return nil
}

// Page returns the page size of a list request and decodes its cursor into position. Without a
// cursor, position is unchanged.
func (c Cursors) Page(scope string, limit *int32, cursor string, position any) (int, error) {
	rows, problem := Limit(limit)
	if problem != nil {
		return 0, apierr.Validation([]apierr.Field{*problem})
	}
	if cursor == "" {
		return rows, nil
	}
	return rows, c.Open(scope, cursor, position)
}

// Query describes one page of a list of rows, whose order is that of their positions.
type Query[Row, Position any] struct {
	// Scope is the list, its owner and its filters.
	Scope    string
	Limit    *int32
	Cursor   string
	First    Position
	Position func(Row) Position
	// Select returns up to limit rows after a position.
	Select func(after Position, limit int) ([]Row, error)
	// Size returns the size of a row, see Fitting. It is nil for lists whose rows are small.
	Size func(Row) int
}

// List returns the page and its pagination.
func List[Row, Position any](
	cursors Cursors, query Query[Row, Position],
) ([]Row, *restv1.Pagination, error) {
	after := query.First
	limit, err := cursors.Page(query.Scope, query.Limit, query.Cursor, &after)
	if err != nil {
		return nil, nil, err
	}
	rows, err := query.Select(after, limit+1)
	if err != nil {
		return nil, nil, err
	}
	shown := limit
	if query.Size != nil {
		shown = Fitting(rows, limit, query.Size)
	}
	rows, p, err := Cut(cursors, query.Scope, rows, shown,
		func(r Row) any { return query.Position(r) })
	if err != nil {
		return nil, nil, err
	}
	p.Limit = int32(limit)
	return rows, p, nil
}

// Fitting returns how many of the first rows fit into a page: at most limit, and at most as many as
// have 2 MiB together, but at least one if there are rows. size returns the approximate size of a
// row in bytes.
func Fitting[T any](rows []T, limit int, size func(T) int) int {
	limit = min(limit, len(rows))
	total := 0
	for i, r := range rows[:limit] {
		if total += size(r); i > 0 && total > maxBytes {
			return i
		}
	}
	return limit
}

// Cut returns the page of a query that selected limit+1 rows. If there are more rows, the
// pagination contains the cursor of the next page, made from the position of the last row.
func Cut[T any](
	cursors Cursors, scope string, rows []T, limit int, position func(T) any,
) ([]T, *restv1.Pagination, error) {
	pagination := &restv1.Pagination{Limit: int32(limit)}
	if len(rows) <= limit {
		return rows, pagination, nil
	}
	rows = rows[:limit]
	cursor, err := cursors.Seal(scope, position(rows[limit-1]))
	if err != nil {
		return nil, nil, err
	}
	pagination.NextCursor, pagination.HasMore = cursor, true
	return rows, pagination, nil
}
