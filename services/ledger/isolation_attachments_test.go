package ledger

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// attach uploads a file of 150 bytes that begins with a name. The quota is 1000 bytes.
func (s *isolated) attach(
	ctx context.Context, transaction, name string,
) (*ledgerv1.CreateAttachmentResponse, error) {
	type request = ledgerv1.CreateAttachmentRequest
	stream := fixture.Upload[request, ledgerv1.CreateAttachmentResponse](ctx,
		&request{TransactionId: transaction},
		&request{File: []byte((name + strings.Repeat(".", 150))[:150])})
	err := s.files.CreateAttachment(stream)
	return stream.Response, err
}

// prepareAttachments attaches files to the first transactions.
func (s *isolated) prepareAttachments(t *testing.T) {
	t.Helper()
	for i, name := range []string{"one", "two", "three"} {
		resp, err := s.attach(s.user.Ctx, s.transactions[i].GetId(), name)
		require.NoError(t, err)
		s.attached = append(s.attached, resp.GetAttachment().GetId())
	}
	// The quota counts the objects of deleted files.
	_, err := s.db.Exec(t.Context(), `
		INSERT INTO unreferenced_objects (owner_id, id, size, created_at)
		VALUES ($1, $2, 1200, $3)`, s.user.ID, s.files.NewID(), fixture.Today)
	require.NoError(t, err)
}

// useAttachments calls every RPC of attachments. The quota would be too small for the files of both
// users.
func (s *isolated) useAttachments(ctx context.Context) {
	s.readAttachments(ctx)
	s.record(s.attach(ctx, s.transactions[0].GetId(), "four"))
	s.record(s.attach(ctx, s.transactions[0].GetId(), "two"))
	s.record(s.attach(ctx, s.transactions[3].GetId(), "three"))
	s.record(s.attach(ctx, s.transactions[3].GetId(), "five"))
	s.record(s.files.DeleteAttachment(ctx, &ledgerv1.DeleteAttachmentRequest{Id: s.attached[0]}))
	s.record(s.files.DeleteAttachment(ctx, &ledgerv1.DeleteAttachmentRequest{Id: s.attached[0]}))
	s.readAttachments(ctx)
}

// readAttachments lists and downloads attachments.
func (s *isolated) readAttachments(ctx context.Context) {
	for _, t := range s.transactions[:4] {
		s.record(s.files.ListAttachments(ctx,
			&ledgerv1.ListAttachmentsRequest{TransactionId: t.GetId()}))
	}
	for _, id := range s.attached {
		stream := &fixture.DownloadStream[ledgerv1.DownloadAttachmentResponse]{Ctx: ctx}
		err := s.files.DownloadAttachment(&ledgerv1.DownloadAttachmentRequest{Id: id}, stream)
		s.record((*ledgerv1.DownloadAttachmentResponse)(nil), err)
		for _, m := range stream.Sent {
			s.record(m, nil)
		}
	}
}
