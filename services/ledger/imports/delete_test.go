package imports

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestDeleteImport(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, statementFile)
	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	_, err = p.DeleteImport(p.Ctx, &ledgerv1.DeleteImportRequest{Id: m.GetId()})
	fixture.RequireReason(t, err, codes.FailedPrecondition, "IMPORT_STATE")
	m = p.finish(t, m)
	transaction := p.rows(t, m)[0].GetTransactionId()
	_, err = p.DeleteImport(p.Ctx, &ledgerv1.DeleteImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	_, err = p.GetImport(p.Ctx, &ledgerv1.GetImportRequest{Id: m.GetId()})
	fixture.RequireReason(t, err, codes.NotFound, "IMPORT_NOT_FOUND")
	_, err = p.DeleteImport(p.Ctx, &ledgerv1.DeleteImportRequest{Id: m.GetId()})
	fixture.RequireReason(t, err, codes.NotFound, "IMPORT_NOT_FOUND")
	list, err := p.ListImports(p.Ctx, &ledgerv1.ListImportsRequest{})
	require.NoError(t, err)
	require.Empty(t, list.GetImports())
	s.runJobs(t)
	left := pgtest.Value[int](t, s.DB, `
		SELECT (SELECT count(*) FROM imports) + (SELECT count(*) FROM import_rows)
			+ (SELECT count(*) FROM transactions WHERE import_id IS NOT NULL)`)
	require.Zero(t, left)
	require.NoError(t, s.DB.QueryRow(t.Context(), `SELECT count(*) FROM transactions WHERE id = $1`,
		transaction).Scan(&left))
	require.Equal(t, 1, left)
	require.Equal(t, "1643.00", p.balance(t))
	s.RequireConsistent(t)
}
