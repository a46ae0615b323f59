package files_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/attachments"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/files/filestest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/receipts"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

// moveTo is the environment variable that makes the test program the command move-files, with
// DATABASE_URL and FILES_URL.
const moveTo = "COFFER_TEST_MOVE_FILES"

func TestMain(m *testing.M) {
	if err := filestest.SetCredentials(); err != nil {
		panic(err)
	}
	if to := os.Getenv(moveTo); to != "" {
		if err := move(context.Background(), to); err != nil {
			slog.Error("failed to move files", "error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// move runs the command move-files.
func move(ctx context.Context, to string) error {
	store, err := files.Open(os.Getenv("FILES_URL"), slog.Default())
	if err != nil {
		return err
	}
	db, err := pg.Open(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer db.Close()
	return store.MoveAll(ctx, db, to, os.Stdout)
}

// server serves the RPCs of files.
type server struct {
	*fixture.Service
	*attachments.Attachments
	*accounts.Accounts
	*transactions.Transactions
	receipts *receipts.Receipts
}

// setup returns a server on a fresh database with a store.
func setup(t *testing.T, store *files.Store) *server {
	t.Helper()
	f := fixture.New(t)
	reading, err := receipts.New(f.Ledger, f.Cursors, nil, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	reading.Files = store
	s := &server{
		Service:      f,
		Attachments:  &attachments.Attachments{Ledger: f.Ledger, Quota: 1 << 30, Files: store},
		Accounts:     &accounts.Accounts{Ledger: f.Ledger, Cursors: f.Cursors},
		Transactions: transactions.New(f.Ledger, f.Cursors, f.Reads),
		receipts:     reading,
	}
	f.RPCs = s
	s.Run(t.Context())
	return s
}

// openStore returns the store of a FILES_URL.
func openStore(t *testing.T, url string) *files.Store {
	t.Helper()
	store, err := files.Open(url, slog.New(slog.NewTextHandler(t.Output(), nil)))
	require.NoError(t, err)
	return store
}

// person is a user with attachments and images, and the content that each of them must have.
type person struct {
	*server
	fixture.User
	// attached has contents by the id of the attachment, and images by the id of the receipt.
	attached, images map[string]string
	transactions     map[string]string
}

func newPerson(t *testing.T, s *server) *person {
	t.Helper()
	return &person{
		server: s, User: s.NewUser(t.Context(), t), attached: map[string]string{},
		images: map[string]string{}, transactions: map[string]string{},
	}
}

// attach uploads a text of a size to a new transaction.
func (p *person) attach(t *testing.T, size int) string {
	t.Helper()
	id, err := p.tryAttach(t, size)
	require.NoError(t, err)
	return id
}

func (p *person) tryAttach(t *testing.T, size int) (string, error) {
	t.Helper()
	text := fmt.Sprintf("%016x", rand.Uint64())
	text = strings.Repeat(text, size/len(text)+1)[:size]
	transaction := p.Create(t, p.Spends("1")).GetId()
	messages := []*ledgerv1.CreateAttachmentRequest{{
		TransactionId: transaction, Header: &restv1.FileHeader{FileName: "a.txt"},
	}}
	for piece := range slices.Chunk([]byte(text), 64<<10) {
		messages = append(messages, &ledgerv1.CreateAttachmentRequest{File: piece})
	}
	up := fixture.Upload[ledgerv1.CreateAttachmentRequest, ledgerv1.CreateAttachmentResponse](
		p.Ctx, messages...)
	if err := p.CreateAttachment(up); err != nil {
		return "", err
	}
	id := up.Response.GetAttachment().GetId()
	p.attached[id], p.transactions[id] = text, transaction
	return id, nil
}

// keep stores the image of a receipt as an upload does.
func (p *person) keep(t *testing.T, size int) string {
	t.Helper()
	id, image := p.NewID(), bytes.Repeat([]byte{byte(rand.N(256)), 7}, size/2)
	_, err := p.DB.Exec(p.Ctx, `
		INSERT INTO receipts (id, owner_id, file_sha256, content, created_at)
		VALUES ($1, $2, $3, '', now())`, id, p.ID, sha256.New().Sum(nil))
	require.NoError(t, err)
	_, err = p.DB.Exec(p.Ctx, `
		INSERT INTO receipt_images (owner_id, receipt_id, page, content) VALUES ($1, $2, 1, $3)`,
		p.ID, id, image)
	require.NoError(t, err)
	p.images[id.String()] = string(image)
	return id.String()
}

// download returns the content of an attachment.
func (p *person) download(id string) (string, error) {
	down := &fixture.DownloadStream[ledgerv1.DownloadAttachmentResponse]{Ctx: p.Ctx}
	err := p.DownloadAttachment(&ledgerv1.DownloadAttachmentRequest{Id: id}, down)
	var content strings.Builder
	for _, m := range down.Sent {
		content.Write(m.GetContent())
	}
	return content.String(), err
}

func (p *person) image(id string) (string, error) {
	resp, err := p.receipts.GetReceiptImage(p.Ctx, &ledgerv1.GetReceiptImageRequest{Id: id})
	return string(resp.GetImage()), err
}

// detach deletes an attachment.
func (p *person) detach(t *testing.T, id string) {
	t.Helper()
	_, err := p.DeleteAttachment(p.Ctx, &ledgerv1.DeleteAttachmentRequest{Id: id})
	require.NoError(t, err)
	delete(p.attached, id)
}

// requireSame compares contents without printing them.
func requireSame(t *testing.T, want, got string) {
	t.Helper()
	require.Equal(t, len(want), len(got)) //nolint:testifylint // Len prints the content.
	require.Equal(t, sha256.Sum256([]byte(want)), sha256.Sum256([]byte(got)))
}

// requireWhole checks that each file has its content and that the files of the person are all.
func (p *person) requireWhole(t *testing.T) {
	t.Helper()
	for id, want := range p.attached {
		got, err := p.download(id)
		require.NoError(t, err)
		requireSame(t, want, got)
	}
	for id, want := range p.images {
		got, err := p.image(id)
		require.NoError(t, err)
		requireSame(t, want, got)
	}
	var count, size, want int64
	require.NoError(t, p.DB.QueryRow(p.Ctx, `
		SELECT count(*), coalesce(sum(size), 0)::bigint
		FROM attachments
		WHERE owner_id = $1 AND status = 'ready'`, p.ID).Scan(&count, &size))
	for _, content := range p.attached {
		want += int64(len(content))
	}
	require.EqualValues(t, len(p.attached), count)
	require.Equal(t, want, size, "the quota counts each file once")
	p.requireArchived(t)
}

// requireConsistent checks that each file has its content in one place, that the bucket has all
// objects that rows name, and that each other object is listed.
func (s *server) requireConsistent(t *testing.T, bucket *filestest.Server) {
	t.Helper()
	ctx := t.Context()
	wrong, err := pg.Value[int](ctx, s.DB, `
		SELECT (SELECT count(*) FROM attachments a
			WHERE status = 'ready' AND (object IS NOT NULL) = EXISTS (
				SELECT FROM attachment_chunks c
				WHERE c.owner_id = a.owner_id AND c.attachment_id = a.id))
			+ (SELECT count(*) FROM receipt_images
				WHERE (object IS NOT NULL) = (content IS NOT NULL))`)
	require.NoError(t, err)
	require.Zero(t, wrong, "files in two places or none")
	named, err := pg.Values[string](ctx, s.DB, `
		SELECT owner_id || '/' || object FROM attachments WHERE object IS NOT NULL
		UNION ALL
		SELECT owner_id || '/' || object FROM receipt_images WHERE object IS NOT NULL`)
	require.NoError(t, err)
	require.Subset(t, bucket.Keys(), named)
	listed, err := pg.Values[string](ctx, s.DB,
		`SELECT owner_id || '/' || id FROM unreferenced_objects`)
	require.NoError(t, err)
	require.Subset(t, append(listed, named...), bucket.Keys())
	for _, key := range listed {
		require.NotContains(t, named, key)
	}
}

// stored returns the number of files with an object.
func (s *server) stored(t *testing.T) int {
	t.Helper()
	n, err := pg.Value[int](t.Context(), s.DB, `
		SELECT (SELECT count(*) FROM attachments WHERE object IS NOT NULL)
			+ (SELECT count(*) FROM receipt_images WHERE object IS NOT NULL)`)
	require.NoError(t, err)
	return n
}

// object returns the id of the object of an attachment.
func (p *person) object(t *testing.T, id string) uuid.UUID {
	t.Helper()
	object, err := pg.Value[uuid.UUID](t.Context(), p.DB,
		`SELECT object FROM attachments WHERE owner_id = $1 AND id = $2`, p.ID, id)
	require.NoError(t, err)
	return object
}

// command returns a process that runs `ledger move-files -to`.
func (s *server) command(t *testing.T, to, url string, out io.Writer) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), program)
	c.Env = append(os.Environ(), moveTo+"="+to, "FILES_URL="+url,
		"DATABASE_URL="+s.DB.Config().ConnString())
	c.Stdout, c.Stderr = out, t.Output()
	return c
}
