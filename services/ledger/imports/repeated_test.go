package imports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/etag"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// imports returns the number of imports of the user, also of invisible ones.
func (p person) imports(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, p.DB.QueryRow(t.Context(),
		`SELECT count(*) FROM imports WHERE owner_id = $1`, p.ID).Scan(&n))
	return n
}

// TestCreateImportRepeated repeats an upload with its key. The first one has opened the last import
// that the user may have open.
func TestCreateImportRepeated(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	file := "Date,Payee,Amount\n2026-01-02,Bakery,-3\n2026-01-03,Shop,-4\n"
	for i := range maxOpen - 2 {
		p.mustUpload(t, fmt.Sprintf("Date,Payee,Amount\n2026-01-02,Bakery,-%d\n", i+10))
	}
	bank := s.MakeWallet(p.Ctx, t, "Bank", "EUR")
	form := func(key string) *ledgerv1.CreateImportRequest {
		return &ledgerv1.CreateImportRequest{WalletId: bank.String(), IdempotencyKey: key}
	}
	key := uuid.NewString()
	first, err := p.upload(form(key), file)
	require.NoError(t, err)
	require.False(t, first.GetReplayed())
	again := func(name string) {
		t.Helper()
		resp, err := p.upload(form(key), file)
		require.NoError(t, err, name)
		require.True(t, resp.GetReplayed(), name)
		require.True(t, proto.Equal(first.GetImport(), resp.GetImport()), name)
		require.Len(t, resp.GetRows(), len(first.GetRows()), name)
	}
	again("with a free place")
	require.Equal(t, maxOpen-1, p.imports(t), "the repetition leaves no import")
	_, err = p.upload(form(key), strings.ReplaceAll(file, "Shop", "Cafe"))
	require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)
	p.mustUpload(t, "Date,Payee,Amount\n2026-01-02,Bakery,-99\n")
	again("without a free place")
	_, err = p.upload(form(uuid.NewString()), file)
	fixture.RequireReason(t, err, codes.AlreadyExists, "LIMIT_REACHED")
	_, err = p.upload(form(strings.Repeat("k", 256)), file)
	require.Error(t, err)
	_, err = p.DeleteWallet(p.Ctx, &ledgerv1.DeleteWalletRequest{Id: bank.String()})
	require.NoError(t, err)
	again("without the wallet")
	require.Equal(t, maxOpen, p.imports(t))
}

// TestCommitImportRepeated repeats a commit and an undo with their keys after the import has gone
// on.
func TestCommitImportRepeated(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, "Date,Payee,Amount\n2026-01-02,Bakery,-3\n")
	commit := &ledgerv1.CommitImportRequest{Id: m.GetId(), IdempotencyKey: uuid.NewString()}
	started, err := p.CommitImport(p.Ctx, commit)
	require.NoError(t, err)
	require.Equal(t, codeStarted, started.GetCode())
	p.finish(t, m)
	undo := &ledgerv1.UndoImportRequest{Id: m.GetId(), IdempotencyKey: uuid.NewString()}
	undone, err := p.UndoImport(p.Ctx, undo)
	require.NoError(t, err)
	p.finish(t, m)

	again, err := p.CommitImport(p.Ctx, commit)
	require.NoError(t, err, "a commit of an undone import is an error otherwise")
	require.True(t, again.GetReplayed())
	require.Equal(t, codeStarted, again.GetCode())
	require.True(t, proto.Equal(started.GetImport(), again.GetImport()))
	_, err = p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{
		Id: m.GetId(), IdempotencyKey: commit.GetIdempotencyKey(), Force: true,
	})
	require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)
	_, err = p.DeleteImport(p.Ctx, &ledgerv1.DeleteImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	repeated, err := p.UndoImport(p.Ctx, undo)
	require.NoError(t, err)
	require.True(t, repeated.GetReplayed())
	require.True(t, proto.Equal(undone.GetImport(), repeated.GetImport()))
}

// TestUpdateImportVersions requires that each change of an import or of its rows, also by a job,
// changes the ETag, and that a change with an old one has no effect.
func TestUpdateImportVersions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	uploaded, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()},
		"Date,Payee,Amount\n2026-01-02,Bakery,-3\n")
	require.NoError(t, err)
	id, old := uploaded.GetImport().GetId(), uploaded.GetEtag()
	current := func() string {
		got, err := p.GetImport(p.Ctx, &ledgerv1.GetImportRequest{Id: id})
		require.NoError(t, err)
		rows, err := p.ListImportRows(p.Ctx, &ledgerv1.ListImportRowsRequest{Id: id})
		require.NoError(t, err)
		require.Equal(t, got.GetEtag(), rows.GetEtag())
		return got.GetEtag()
	}
	require.Equal(t, old, current())
	seen := map[string]bool{old: true}
	changed := func(tag string) {
		t.Helper()
		require.Equal(t, tag, current())
		require.False(t, seen[tag])
		seen[tag] = true
	}
	rows := []*rowChange{{N: uploaded.GetRows()[0].GetN(), Description: new("Bread")}}
	changedRows, err := p.UpdateImportRows(p.Ctx,
		&ledgerv1.UpdateImportRowsRequest{Id: id, Rows: rows, IfMatch: old})
	require.NoError(t, err)
	changed(changedRows.GetEtag())
	defaults := &ledgerv1.ImportDefaultsChange{
		WalletId: new(p.Wallet.String()), ExpenseCategoryId: new(p.Category.String()),
	}
	updated, err := p.UpdateImport(p.Ctx,
		&ledgerv1.UpdateImportRequest{Id: id, Defaults: defaults, IfMatch: changedRows.GetEtag()})
	require.NoError(t, err)
	changed(updated.GetEtag())

	for name, do := range map[string]func() error{
		"UpdateImport": func() error {
			_, err := p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{
				Id: id, Defaults: &ledgerv1.ImportDefaultsChange{}, IfMatch: old,
			})
			return err
		},
		"UpdateImportRows": func() error {
			_, err := p.UpdateImportRows(p.Ctx,
				&ledgerv1.UpdateImportRowsRequest{Id: id, Rows: rows, IfMatch: old})
			return err
		},
		"DeleteImport": func() error {
			_, err := p.DeleteImport(p.Ctx, &ledgerv1.DeleteImportRequest{Id: id, IfMatch: old})
			return err
		},
	} {
		require.ErrorIs(t, do(), apierr.VersionMismatch, name)
		require.Equal(t, updated.GetEtag(), current(), name)
	}
	committed, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: id})
	require.NoError(t, err)
	changed(committed.GetEtag())
	p.finish(t, uploaded.GetImport())
	changed(current())
	stored, err := staging.SelectImport(t.Context(), p.DB, p.ID, uuid.MustParse(id))
	require.NoError(t, err)
	_, err = p.DeleteImport(p.Ctx,
		&ledgerv1.DeleteImportRequest{Id: id, IfMatch: etag.Format(stored.Version)})
	require.NoError(t, err)
}
