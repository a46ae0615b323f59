package archive

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// TestFiles joins the pieces of files: one with rows, one that is empty and one that is larger than
// a piece.
func TestFiles(t *testing.T) {
	t.Parallel()
	contents, rows := map[string]string{}, map[string]int64{}
	path := ""
	files := NewFiles(func(p *restv1.ArchivePiece) error {
		if p.GetPath() != "" {
			path = p.GetPath()
			contents[path] = ""
		}
		require.LessOrEqual(t, len(p.GetContent()), rpc.MaxPiece)
		contents[path] += string(p.GetContent())
		rows[path] += p.GetRows()
		return nil
	})
	cookies := []*restv1.Cookie{{Value: "a", MaxAge: 1}, {Value: "b"}}
	require.NoError(t, Rows(files, "rows", cookies))
	require.NoError(t, files.Begin("empty"))
	require.NoError(t, files.Begin("large"))
	large := strings.Repeat("0123456789", 20_000)
	n, err := files.Write([]byte(large))
	require.NoError(t, err)
	require.Len(t, large, n)
	require.NoError(t, files.Flush())
	require.NoError(t, files.Flush(), "a repetition sends nothing")
	require.Equal(t, map[string]string{
		"rows":  `{"value":"a","maxAge":1}` + "\n" + `{"value":"b","maxAge":0}` + "\n",
		"empty": "", "large": large,
	}, contents)
	require.Equal(t, map[string]int64{"rows": 2, "empty": 0, "large": 0}, rows)
}

// TestFilesEnd requires that the error of a receiver ends the file.
func TestFilesEnd(t *testing.T) {
	t.Parallel()
	gone := errors.New("the receiver is gone")
	files := NewFiles(func(*restv1.ArchivePiece) error { return gone })
	require.NoError(t, files.Begin("rows"))
	var err error
	for i := 0; err == nil; i++ {
		require.Less(t, i, rpc.MaxPiece)
		err = files.Row(&restv1.Cookie{Value: fmt.Sprint(i)})
	}
	require.ErrorIs(t, err, gone)
}
