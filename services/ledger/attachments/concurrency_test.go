package attachments

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// together runs n uploads at once and returns their errors.
func together(n int, upload func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = upload(i) })
	}
	wg.Wait()
	return errs
}

// TestCreateAttachmentQuota checks that simultaneous uploads to different transactions end exactly
// at the quota.
func TestCreateAttachmentQuota(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	const size, fit = 300_000, 7
	srv.Quota = size * fit
	me := newPerson(t, srv)
	transactions := make([]string, 20)
	for i := range transactions {
		transactions[i] = me.Create(t, me.Spends("1")).GetId()
	}
	created := 0
	for _, err := range together(20, func(i int) error {
		return me.CreateAttachment(stream(me.Ctx, transactions[i], "a",
			pdf+fmt.Sprintf("%02d", i)+strings.Repeat("x", size-len(pdf)-2)))
	}) {
		if err == nil {
			created++
			continue
		}
		require.ErrorIs(t, err, errLimitReached)
		require.ErrorContains(t, err, "LIMIT_REACHED")
	}
	require.Equal(t, fit, created)
	used, err := selectUsage(me.Ctx, srv.DB, me.ID)
	require.NoError(t, err)
	require.Equal(t, srv.Quota, used)
	require.Equal(t, fit, srv.rows(t, "attachments"))

	other := newPerson(t, srv)
	other.mustAttach(t, "a", pdf) // Each owner has a separate quota.
	_, err = me.attach("a", "x")
	require.ErrorIs(t, err, errLimitReached)
	for _, id := range transactions {
		q := me
		q.transaction = id
		if list := q.list(t); len(list) > 0 {
			_, err = me.DeleteAttachment(me.Ctx,
				&ledgerv1.DeleteAttachmentRequest{Id: list[0].GetId()})
			require.NoError(t, err)
			break
		}
	}
	me.mustAttach(t, "a", pdf+strings.Repeat("x", size-len(pdf))) // The space is free again.
}

func TestCreateAttachmentLimitPerTransaction(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	created := 0
	for _, err := range together(20, func(i int) error {
		_, err := me.attach("a", fmt.Sprint(i))
		return err
	}) {
		if err == nil {
			created++
			continue
		}
		require.ErrorIs(t, err, errLimitReached)
	}
	require.Equal(t, maxPerTransaction, created)
	require.Len(t, me.list(t), maxPerTransaction)
	require.Equal(t, maxPerTransaction, me.count(t))
	require.Equal(t, maxPerTransaction, srv.rows(t, "attachments"))
}

func TestCreateAttachmentSameContentTogether(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	var ids sync.Map
	for _, err := range together(20, func(int) error {
		resp, err := me.attach("a", "same")
		ids.Store(resp.GetAttachment().GetId(), true)
		return err
	}) {
		require.NoError(t, err)
	}
	n := 0
	ids.Range(func(any, any) bool { n++; return true })
	require.Equal(t, 1, n)
	require.Equal(t, 1, me.count(t))
	require.Equal(t, 1, srv.rows(t, "attachments"))
}

// TestCreateAttachmentCutOff ends the stream in the middle of the file, by a disconnected client
// and by a form that is not complete.
func TestCreateAttachmentCutOff(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	for _, after := range []int{1, 2, 9} {
		ctx, cancel := context.WithCancel(me.Ctx)
		up := stream(ctx, me.transaction, "a", pdf+strings.Repeat("x", 1<<20))
		next, n := up.Next, 0
		up.Next = func() (*ledgerv1.CreateAttachmentRequest, error) {
			if n++; n > after {
				cancel()
				return nil, status.Error(codes.Canceled, "context canceled")
			}
			require.Empty(t, me.list(t), "the file is not visible before its end")
			return next()
		}
		require.Equal(t, codes.Canceled, status.Code(me.CreateAttachment(up)))
		require.Empty(t, me.list(t))
		srv.requireNothingStored(t)
	}
	require.Zero(t, me.count(t))
}

// TestCreateAttachmentDuringDeleteTransaction deletes the transaction at each point of an upload.
func TestCreateAttachmentDuringDeleteTransaction(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	for at := range 20 {
		me.transaction = me.Create(t, me.Spends("1")).GetId()
		up := stream(me.Ctx, me.transaction, "a", pdf+strings.Repeat("x", 1<<20))
		next, n := up.Next, 0
		up.Next = func() (*ledgerv1.CreateAttachmentRequest, error) {
			if n++; n == at+1 {
				_, err := me.DeleteTransaction(me.Ctx,
					&ledgerv1.DeleteTransactionRequest{Id: me.transaction})
				require.NoError(t, err)
			}
			return next()
		}
		err := me.CreateAttachment(up)
		if n > at {
			require.ErrorIs(t, err, posting.ErrTransactionNotFound)
		} else {
			require.NoError(t, err)
			_, err = me.DeleteTransaction(me.Ctx,
				&ledgerv1.DeleteTransactionRequest{Id: me.transaction})
			require.NoError(t, err)
		}
		srv.requireNothingStored(t)
	}
}

// TestCreateAttachmentAfterChanges changes rows after the file has arrived and before the
// attachment is visible.
func TestCreateAttachmentAfterChanges(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	for name, tc := range map[string]struct {
		change func(transaction string) error
		want   error
	}{
		"a match makes the transaction a leg in": {func(transaction string) error {
			_, err := srv.DB.Exec(me.Ctx,
				`UPDATE transactions SET transfer_id = $2, category_id = NULL WHERE id = $1`,
				transaction, srv.NewID())
			return err
		}, errTransactionIsTransfer},
		"the upload expires": {func(string) error {
			return Expire(me.Ctx, srv.DB, fixture.Today.Add(2*uploadAge))
		}, apierr.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			earned := me.Spends("1")
			earned.Type = new(posting.Income)
			transaction := me.Create(t, earned).GetId()
			// The last chunk is full, so it is stored before the end of the file is known.
			up := stream(me.Ctx, transaction, "a", pdf+strings.Repeat("x", chunkSize-len(pdf)))
			next := up.Next
			up.Next = func() (*ledgerv1.CreateAttachmentRequest, error) {
				m, err := next()
				if errors.Is(err, io.EOF) {
					require.NoError(t, tc.change(transaction))
				}
				return m, err
			}
			require.ErrorIs(t, me.CreateAttachment(up), tc.want)
			srv.requireNothingStored(t)
		})
	}
}

// TestCreateAttachmentBesideDeletions runs the last step of uploads, deletions of attachments and
// the deletion of the transaction at the same time. No order may leave rows, a wrong count or an
// error that the contract does not have.
func TestCreateAttachmentBesideDeletions(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t, srv)
	for range 30 {
		me.transaction = me.Create(t, me.Spends("1")).GetId()
		first := me.mustAttach(t, "a", "first")
		for index, err := range together(6, func(i int) error {
			switch i {
			case 0:
				_, err := me.DeleteAttachment(me.Ctx,
					&ledgerv1.DeleteAttachmentRequest{Id: first.GetId()})
				return err
			case 1:
				_, err := me.DeleteTransaction(me.Ctx,
					&ledgerv1.DeleteTransactionRequest{Id: me.transaction})
				return err
			}
			_, err := me.attach("a", fmt.Sprint(i))
			return err
		}) {
			if err != nil {
				require.NotEqual(t, 1, index, "%v", err)
				require.True(t, errors.Is(err, posting.ErrTransactionNotFound) ||
					errors.Is(err, errAttachmentNotFound), "%d: %v", index, err)
			}
		}
		srv.requireNothingStored(t)
	}
}
