package budget

import (
	"github.com/coffer-budget/coffer/internal/page"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// paginate cuts a page out of limit+1 rows, and seals the position of its last one into the cursor of the next.
func paginate[T any](c page.Cursors, scope string, rows []T, limit int, position func(T) any) ([]T, *restv1.Pagination, error) {
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
