package imports

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// TestCreateImportSlots starts uploads whose clients stop in the middle of the file. They hold up
// no other user.
func TestCreateImportSlots(t *testing.T) {
	t.Parallel()
	s := setup(t)
	reached, resume := make(chan struct{}), make(chan struct{})
	const file = "Date,Amount,Currency\n2026-01-31,-9.50,EUR\n"
	form := &ledgerv1.CreateImportRequest{Header: &restv1.FileHeader{FileName: "a.csv"}}
	ended := make(chan error, maxUploads)
	for range maxUploads - 1 {
		p := newPerson(t, s)
		u := fixture.NewUpload(p.Ctx, form, []byte(file))
		next := u.Next
		pieces := 0
		u.Next = func() (*ledgerv1.CreateImportRequest, error) {
			if pieces++; pieces == 2 {
				reached <- struct{}{}
				<-resume
			}
			return next()
		}
		go func() { ended <- p.CreateImport(u) }()
	}
	for range maxUploads - 1 {
		<-reached
	}
	p := newPerson(t, s)
	p.mustUpload(t, file)

	// An upload that finds all places taken waits for one.
	exit, err := s.working.Enter(t.Context())
	require.NoError(t, err)
	exitOther, err := s.working.Enter(t.Context())
	require.NoError(t, err)
	go func() { ended <- p.CreateImport(fixture.NewUpload(p.Ctx, form, []byte(file))) }()
	require.Eventually(t, func() bool {
		return s.working.Waiting() == 1
	}, time.Minute, time.Millisecond)
	exit()
	require.NoError(t, <-ended)
	exitOther()
	close(resume)
	for range maxUploads - 1 {
		require.NoError(t, <-ended)
	}
	require.Zero(t, s.working.Waiting())
}
