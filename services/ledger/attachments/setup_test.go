package attachments

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*Attachments
	*accounts.Accounts
	*transactions.Transactions
}

// setup returns a server on a fresh database.
func setup(t testing.TB) *server {
	t.Helper()
	base := fixture.New(t)
	s := &server{
		Service:      base,
		Attachments:  &Attachments{Ledger: base.Ledger, Quota: 1 << 30},
		Accounts:     &accounts.Accounts{Ledger: base.Ledger, Cursors: base.Cursors},
		Transactions: transactions.New(base.Ledger, base.Cursors, base.Reads),
	}
	base.RPCs = s
	s.Run(t.Context())
	return s
}

// person is a user of a server with a transaction.
type person struct {
	*server
	fixture.User
	transaction string
}

func newPerson(t testing.TB, s *server) person {
	t.Helper()
	p := person{server: s, User: s.NewUser(t.Context(), t)}
	p.transaction = p.Create(t, p.Spends("12.30")).GetId()
	return p
}

type uploadStream = fixture.UploadStream[
	ledgerv1.CreateAttachmentRequest, ledgerv1.CreateAttachmentResponse]

// stream returns the stream of an upload in pieces as the gateway sends them.
func stream(ctx context.Context, transaction, name, content string, key ...string) *uploadStream {
	first := &ledgerv1.CreateAttachmentRequest{
		TransactionId: transaction,
		Header:        &restv1.FileHeader{FileName: name, MediaType: "text/html"},
	}
	if len(key) > 0 {
		first.IdempotencyKey = key[0]
	}
	messages := []*ledgerv1.CreateAttachmentRequest{first}
	for len(content) > 0 {
		n := min(len(content), 64<<10)
		messages = append(messages, &ledgerv1.CreateAttachmentRequest{File: []byte(content[:n])})
		content = content[n:]
	}
	return fixture.Upload[ledgerv1.CreateAttachmentRequest, ledgerv1.CreateAttachmentResponse](ctx,
		messages...)
}

// attach uploads a file to the person's transaction.
func (p person) attach(
	name, content string, key ...string,
) (*ledgerv1.CreateAttachmentResponse, error) {
	s := stream(p.Ctx, p.transaction, name, content, key...)
	err := p.CreateAttachment(s)
	return s.Response, err
}

// mustAttach uploads a file that is accepted.
func (p person) mustAttach(t testing.TB, name, content string) *ledgerv1.Attachment {
	t.Helper()
	resp, err := p.attach(name, content)
	require.NoError(t, err)
	return resp.GetAttachment()
}

// list returns the attachments of the person's transaction.
func (p person) list(t testing.TB) []*ledgerv1.Attachment {
	t.Helper()
	resp, err := p.ListAttachments(p.Ctx,
		&ledgerv1.ListAttachmentsRequest{TransactionId: p.transaction})
	require.NoError(t, err)
	return resp.GetAttachments()
}

// download returns the header and the content of an attachment.
func (p person) download(id string) (header *restv1.FileHeader, content string, err error) {
	s := &fixture.DownloadStream[ledgerv1.DownloadAttachmentResponse]{Ctx: p.Ctx}
	err = p.DownloadAttachment(&ledgerv1.DownloadAttachmentRequest{Id: id}, s)
	for i, m := range s.Sent {
		if i == 0 {
			header = m.GetHeader()
		}
		content += string(m.GetContent())
	}
	return header, content, err
}

// count returns the attachmentCount of the person's transaction, as its GET and the list show it.
func (p person) count(t testing.TB) int {
	t.Helper()
	resp, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: p.transaction})
	require.NoError(t, err)
	list, err := p.ListTransactions(p.Ctx, &ledgerv1.ListTransactionsRequest{})
	require.NoError(t, err)
	require.Equal(t, resp.GetTransaction().GetAttachmentCount(),
		list.GetTransactions()[0].GetAttachmentCount())
	return int(resp.GetTransaction().GetAttachmentCount())
}

// rows returns the number of rows of a table.
func (s *server) rows(t testing.TB, table string) int {
	t.Helper()
	type row struct{ N int }
	r, err := pg.One[row](context.Background(), s.DB,
		fmt.Sprintf(`SELECT count(*) AS n FROM %s`, table))
	require.NoError(t, err)
	return r.N
}

// requireNothingStored checks that no upload has left anything.
func (s *server) requireNothingStored(t testing.TB) {
	t.Helper()
	require.Zero(t, s.rows(t, "attachments"))
	require.Zero(t, s.rows(t, "attachment_chunks"))
}
