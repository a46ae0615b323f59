package imports

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	formatfixture "github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
)

// pieces returns the upload of a file. end is called at its end and returns the error of the
// stream.
func (p person) pieces(
	file []byte, end func() error,
) *fixture.UploadStream[ledgerv1.CreateImportRequest, ledgerv1.CreateImportResponse] {
	messages := []*ledgerv1.CreateImportRequest{
		{Header: &restv1.FileHeader{FileName: "statement"}}, {File: file},
	}
	return &fixture.UploadStream[ledgerv1.CreateImportRequest, ledgerv1.CreateImportResponse]{
		Ctx: p.Ctx, Next: func() (*ledgerv1.CreateImportRequest, error) {
			if len(messages) == 0 {
				return nil, end()
			}
			m := messages[0]
			messages = messages[1:]
			return m, nil
		},
	}
}

// openImports returns the number of a person's imports, including those that are not visible.
func (p person) openImports(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, p.DB.QueryRow(t.Context(),
		`SELECT count(*) FROM imports WHERE owner_id = $1`, p.ID).Scan(&n))
	return n
}

// commented returns a ZIP archive with a file and a long comment. A parser needs no byte of the
// comment.
func commented(t *testing.T, contents string) []byte {
	t.Helper()
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	w, err := archive.Create("statement.csv")
	require.NoError(t, err)
	_, err = w.Write([]byte(contents))
	require.NoError(t, err)
	require.NoError(t, archive.SetComment(strings.Repeat("x", 60_000)))
	require.NoError(t, archive.Close())
	return file.Bytes()
}

// TestCreateImportCutOff requires that a file whose connection ends after the part that the parser
// needs, but before the end of the stream, is no import: the client has not confirmed its end.
// The size of a complete one counts all bytes.
func TestCreateImportCutOff(t *testing.T) {
	t.Parallel()
	s := setup(t)
	lost := errors.New("the connection was lost")
	files := [][]byte{commented(t, "Date;Amount;Currency\n2026-01-31;-1.00;EUR\n")}
	for _, seeds := range formatfixture.Seeds {
		for _, seed := range seeds {
			files = append(files, []byte(seed))
		}
	}
	for i, file := range files {
		p := newPerson(t, s)
		require.Error(t, p.CreateImport(p.pieces(file, func() error { return lost })), i)
		require.Zero(t, p.openImports(t), i)
	}
	p := newPerson(t, s)
	u := p.pieces(files[0], func() error { return io.EOF })
	require.NoError(t, p.CreateImport(u))
	require.EqualValues(t, len(files[0]), u.Response.GetImport().GetSize())
}

// TestCreateImportAtOnce requires that a user has one upload at a time, and that others do not wait
// for it.
func TestCreateImportAtOnce(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, other := newPerson(t, s), newPerson(t, s)
	const file = "Date;Amount;Currency\n2026-01-31;-1.00;EUR\n"
	reached, release := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	// A stream may be asked for its end more than once.
	wait := sync.OnceFunc(func() {
		close(reached)
		<-release
	})
	go func() {
		first <- p.CreateImport(p.pieces([]byte(file), func() error {
			wait()
			return io.EOF
		}))
	}()
	<-reached
	_, err := p.upload(&ledgerv1.CreateImportRequest{}, file)
	require.ErrorIs(t, err, errUploading)
	_, err = other.upload(&ledgerv1.CreateImportRequest{}, file)
	require.NoError(t, err)
	close(release)
	require.NoError(t, <-first)
	_, err = p.upload(&ledgerv1.CreateImportRequest{}, file)
	require.NoError(t, err)
	require.Equal(t, 2, p.openImports(t))
}

// TestUpdateImportRowsOfAnotherUser requires that a row cannot name a wallet, a category or a
// transaction of another user.
func TestUpdateImportRowsOfAnotherUser(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, other := newPerson(t, s), newPerson(t, s)
	m := p.mustUpload(t, "Date;Amount;Currency\n2026-01-31;-1.00;EUR\n")
	n := p.rows(t, m)[0].GetN()
	booked := other.commit(t, other.mustUpload(t, "Date;Amount;Currency\n2026-01-31;-1.00;EUR\n"))
	require.EqualValues(t, 1, booked.GetCounts().GetBooked())
	theirs := uuid.MustParse(other.rows(t, booked)[0].GetTransactionId())
	pgtest.Exec(t, p.DB, `UPDATE transactions SET external_id = NULL WHERE id = $1`, theirs)
	before := p.rows(t, m)
	for name, change := range map[string]*rowChange{
		"a transaction": {N: n, Action: new("match:" + theirs.String())},
		"a category":    {N: n, CategoryId: new(other.Category.String())},
		"a wallet":      {N: n, TransferWalletId: new(other.Wallet.String())},
	} {
		_, err := p.UpdateImportRows(p.Ctx,
			&ledgerv1.UpdateImportRowsRequest{Id: m.GetId(), Rows: []*rowChange{change}})
		require.Error(t, err, name)
		require.Equal(t, before[0].String(), p.rows(t, m)[0].String(), name)
	}
}
