// Package export writes the archive of an account, a zip file with everything that Coffer stores
// about a user.
//
// ExportAccount asks auth and the ledger for their files, adds those of this service, and sends the
// zip file while it receives. So no service keeps a file in memory or on disk (ADR 134). The last
// file is the manifest, with the number of rows, the size and the SHA-256 of each other file. An
// archive without it is incomplete. Package clients/go/archive verifies an archive.
//
// Rows are what the API shows: the files of this service are the responses of its RPCs for the
// user. export.go has the RPC, own.go the files of this service, zip.go the zip file.
package export

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"time"

	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/archive"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/rpc"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Dependencies are the parts of the process that the package uses.
type Dependencies struct {
	Auth   authv1.AuthServiceClient
	Ledger ledgerv1.ExportServiceClient
	// Budgets, Goals, Notifications and Webhooks answer for the acting user.
	Budgets       budgetv1.BudgetServiceServer
	Goals         budgetv1.GoalServiceServer
	Notifications budgetv1.NotificationServiceServer
	Webhooks      budgetv1.WebhookServiceServer
	// ClientAddress returns the address of the client; invalid if it is unknown.
	ClientAddress func(ctx context.Context) netip.Addr
	Now           func() time.Time
}

// Server implements AccountService.
type Server struct {
	budgetv1.UnsafeAccountServiceServer
	Dependencies
}

var _ budgetv1.AccountServiceServer = (*Server)(nil)

// ExportAccount sends the archive of the acting user, who has signed in recently (ADR 133). auth
// requires a verified e-mail, and the ledger allows one export of a user at a time. Both decide
// before the first byte is sent, so a rejected request gets an error and not a part of an archive.
// The ledger decides first: auth records the export in the audit trail when it accepts the call.
//
// Errors: EMAIL_NOT_VERIFIED, RATE_LIMITED, and SERVICE_UNAVAILABLE while the ledger runs too many
// exports.
func (s *Server) ExportAccount(
	req *budgetv1.ExportAccountRequest,
	stream grpc.ServerStreamingServer[budgetv1.ExportAccountResponse],
) error {
	ctx := stream.Context()
	books, err := s.books(ctx)
	if err != nil {
		return err
	}
	profile, err := s.profile(ctx, req)
	if err != nil {
		return err
	}
	started := s.Now().UTC()
	header := &restv1.FileHeader{
		MediaType: "application/zip",
		FileName:  "coffer-account-" + started.Format(time.DateOnly) + ".zip",
	}
	if err := stream.Send(&budgetv1.ExportAccountResponse{Header: header}); err != nil {
		return err
	}
	w := rpc.NewFileWriter(func(piece []byte) error {
		return stream.Send(&budgetv1.ExportAccountResponse{Content: piece})
	})
	to := newZip(w, started)
	if err := profile.copyTo(to); err != nil {
		return err
	}
	own := archive.NewFiles(to.add)
	if err := s.write(ctx, own); err != nil {
		return err
	}
	if err := own.Flush(); err != nil {
		return err
	}
	if err := books.copyTo(to); err != nil {
		return err
	}
	if err := to.close(s.Now().UTC()); err != nil {
		return err
	}
	return w.Flush()
}

// source is the files of another service. The first piece has been received, so the service has
// accepted the call.
type source struct {
	first   *restv1.ArchivePiece
	receive func() (*restv1.ArchivePiece, error)
}

// begin receives the first piece of a stream.
func begin[Message interface{ GetPiece() *restv1.ArchivePiece }](
	receive func() (Message, error),
) (source, error) {
	pieces := func() (*restv1.ArchivePiece, error) {
		m, err := receive()
		return m.GetPiece(), err
	}
	first, err := pieces()
	return source{first: first, receive: pieces}, err
}

// copyTo writes the files to a zip file.
func (s source) copyTo(to *zipFile) error {
	for piece := s.first; ; {
		if err := to.add(piece); err != nil {
			return err
		}
		var err error
		if piece, err = s.receive(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func (s *Server) profile(
	ctx context.Context, req *budgetv1.ExportAccountRequest,
) (source, error) {
	id, _ := caller.From(ctx)
	address := ""
	if from := s.ClientAddress(ctx); from.IsValid() {
		address = from.String()
	}
	stream, err := s.Auth.ExportUser(ctx, &authv1.ExportUserRequest{
		UserId: id.UserID.String(), SessionId: id.SessionID.String(), Address: address,
		UserAgent: req.GetUserAgent(),
	})
	if err != nil {
		return source{}, err
	}
	return begin(stream.Recv)
}

func (s *Server) books(ctx context.Context) (source, error) {
	stream, err := s.Ledger.ExportOwner(ctx,
		&ledgerv1.ExportOwnerRequest{OwnerId: caller.ID(ctx).String()})
	if err != nil {
		return source{}, err
	}
	return begin(stream.Recv)
}
