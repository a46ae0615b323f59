package page

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
)

func TestOpenRejectsChangedCursorAndOtherScope(t *testing.T) {
	t.Parallel()
	cursors := NewCursors("secret")
	cursor, err := cursors.Seal("wallets of ann", 42)
	require.NoError(t, err)

	var position int
	require.NoError(t, cursors.Open("wallets of ann", cursor, &position))
	require.Equal(t, 42, position)

	require.ErrorIs(t, cursors.Open("wallets of bob", cursor, &position), apierr.InvalidCursor)
	require.ErrorIs(t, NewCursors("other").Open("wallets of ann", cursor, &position),
		apierr.InvalidCursor)
	for i := range cursor {
		bent := []byte(cursor)
		bent[i] ^= 1
		require.ErrorIs(t, cursors.Open("wallets of ann", string(bent), &position),
			apierr.InvalidCursor, "byte %d", i)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int32]int{1: 1, 50: 50, 200: 200, 201: 200, 1 << 30: 200} {
		got, bad := Limit(&asked)
		require.Nil(t, bad)
		require.Equal(t, want, got)
	}
	got, bad := Limit(nil)
	require.Nil(t, bad)
	require.Equal(t, 50, got)
	for _, asked := range []int32{0, -1} {
		_, bad = Limit(&asked)
		require.NotNil(t, bad)
	}
}

func TestListSize(t *testing.T) {
	t.Parallel()
	cursors := NewCursors("secret")
	// sizes are the sizes of the rows, in quarters of maxBytes. The position of a row is its index.
	list := func(limit int32, sizes ...int) (pages []int) {
		cursor := ""
		for {
			rows, pagination, err := List(cursors, Query[int, int]{
				Limit: &limit, Cursor: cursor, First: -1, Position: func(i int) int { return i },
				Select: func(after, limit int) (rows []int, err error) {
					for i := after + 1; i < len(sizes) && len(rows) < limit; i++ {
						rows = append(rows, i)
					}
					return rows, nil
				},
				Size: func(i int) int { return sizes[i] * maxBytes / 4 },
			})
			require.NoError(t, err)
			require.Equal(t, limit, pagination.GetLimit())
			pages = append(pages, len(rows))
			if cursor = pagination.GetNextCursor(); !pagination.GetHasMore() {
				return pages
			}
		}
	}
	require.Equal(t, []int{4, 3}, list(50, 1, 1, 1, 1, 1, 1, 1))
	require.Equal(t, []int{3, 3, 1}, list(3, 1, 1, 1, 1, 1, 1, 1))
	require.Equal(t, []int{1, 1, 2}, list(50, 9, 9, 1, 1))
	require.Equal(t, []int{2, 1}, list(50, 1, 3, 1))
	require.Equal(t, []int{0}, list(50))
}

func FuzzOpen(f *testing.F) {
	cursors := NewCursors("secret")
	// The processes of a fuzzing run must agree on the cursor. Seal would return another one in
	// each, because its nonce is random.
	const good = "urjpHRjq6VXLP0dwh9d8W0pauTLlhet-y1Kn83k"
	var position int
	require.NoError(f, cursors.Open("s", good, &position))
	require.Equal(f, 1, position)
	f.Add(good)
	f.Add("")
	f.Fuzz(func(t *testing.T, cursor string) {
		var position int
		if cursors.Open("s", cursor, &position) == nil {
			require.Equal(t, good, cursor)
		}
	})
}
