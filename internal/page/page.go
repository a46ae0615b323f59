// Package page cuts lists into pages by keyset, with cursors that clients cannot read anything into or change.
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
)

// Limit is the page size for what a client asked for: 50 when absent, at most 200. Less than 1 is a field error.
func Limit(asked *int32) (int, *apierr.Field) {
	if asked == nil {
		return defaultLimit, nil
	}
	if *asked < 1 {
		return 0, &apierr.Field{Name: "limit", Message: "must be at least 1"}
	}
	return min(int(*asked), maxLimit), nil
}

// Cursors seals positions in a list. Nobody can read one, for a position may tell of more than its owner's rows, and nobody
// can make one.
type Cursors struct{ key seal.Key }

// NewCursors takes a secret that all replicas of a service share.
func NewCursors(secret string) Cursors { return Cursors{seal.NewKey(secret, "cursor")} }

// Seal returns an opaque cursor for a position. The scope is what the position is valid for: the list, its owner,
// filters and order.
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

// Open reads a cursor that Seal made for the same scope into position; anything else is apierr.InvalidCursor.
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

// Page reads what every list is asked: how many rows to answer, and behind which position, which stays as it is when there is
// no cursor.
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

// Cut makes a page of limit+1 rows, and seals the position of its last row into the cursor of the next page.
func Cut[T any](c Cursors, scope string, rows []T, limit int, position func(T) any) ([]T, *restv1.Pagination, error) {
	p := &restv1.Pagination{Limit: int32(limit)}
	if len(rows) <= limit {
		return rows, p, nil
	}
	rows = rows[:limit]
	cursor, err := c.Seal(scope, position(rows[limit-1]))
	if err != nil {
		return nil, nil, err
	}
	p.NextCursor, p.HasMore = cursor, true
	return rows, p, nil
}
