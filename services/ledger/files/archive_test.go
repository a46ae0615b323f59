package files_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/export"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// requireArchived checks that the archive of the account has the content of each file.
func (p *person) requireArchived(t *testing.T) {
	t.Helper()
	stream := &fixture.DownloadStream[ledgerv1.ExportOwnerResponse]{Ctx: p.Ctx}
	req := &ledgerv1.ExportOwnerRequest{OwnerId: p.ID.String()}
	require.NoError(t, export.New(p.Service.Ledger, p.Files).ExportOwner(req, stream))
	want := map[string]map[string]string{"attachments": p.attached, "receipts": p.images}
	contents, path := map[string]*strings.Builder{}, ""
	for _, m := range stream.Sent {
		if begun := m.GetPiece().GetPath(); begun != "" {
			path = begun
			contents[path] = &strings.Builder{}
		}
		contents[path].Write(m.GetPiece().GetContent())
	}
	archived := 0
	for path, content := range contents {
		folder, name, found := strings.Cut(path, "/")
		if !found {
			continue
		}
		archived++
		requireSame(t, want[folder][name[:36]], content.String())
	}
	require.Equal(t, len(p.attached)+len(p.images), archived)
}
