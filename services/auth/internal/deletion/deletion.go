// Package deletion deletes accounts (ADR 145). It owns the table deletions.
//
// A request ends all sessions and personal access tokens. In the grace period that follows, a
// sign-in is rejected with a token that cancels the deletion (Pending). Then the services delete
// what they store about the user, one after the other, and report that (saga.go). At last auth
// deletes the user's events, and the user with all dependent rows. The row of the deletion remains
// for a year, as the certificate. It has a MAC of the user's id, so that Replay finds users who are
// in a restored backup again.
//
// deletion.go has the RPCs, saga.go the steps, replay.go the command after the restore of a backup,
// store_*.go the statements.
package deletion

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/seal"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/email"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
)

// Kinds of audit entries. They are stored and public: never rename one.
const (
	AuditRequested = "deletion_requested"
	AuditCanceled  = "deletion_canceled"
)

// cancelTTL is the time for which the token of a rejected sign-in cancels the deletion.
const cancelTTL = time.Hour

var (
	errPending  = apierr.New(restv1.Reason_ACCOUNT_DELETION_PENDING)
	errNotFound = apierr.New(restv1.Reason_DELETION_NOT_FOUND)
)

// Config has the parts of the service that the package uses.
type Config struct {
	DB         *pgxpool.Pool
	ServiceKey string
	// Grace is the time between a request and the deletion.
	Grace time.Duration
	Mails *mail.Outbox
	// EndAccess ends all sessions and personal access tokens of a user, whom tx has locked, and
	// writes the audit entry of the request.
	EndAccess func(ctx context.Context, tx pgx.Tx, user uuid.UUID, agent string) error
	// Canceled writes the audit entry of a canceled deletion.
	Canceled func(ctx context.Context, tx pgx.Tx, user uuid.UUID, agent string) error
	// Publish adds an event of a user to the outbox.
	Publish func(ctx context.Context, tx pgx.Tx, user uuid.UUID, data proto.Message) error
	Now     func() time.Time
	NewID   func() uuid.UUID
	Log     *slog.Logger
}

// Server implements DeletionService.
type Server struct {
	authv1.UnsafeDeletionServiceServer
	Config

	// AwaitApplied waits until the audit trail contains all published events that belong in it.
	// EraseEvents deletes the events of a user, and those that name the user or one of the texts.
	// Both are set before Run.
	AwaitApplied func(ctx context.Context) error
	EraseEvents  func(ctx context.Context, user uuid.UUID, texts ...string) error
	*jobs.Worker
	cancelKey, userKey seal.Key
}

var _ authv1.DeletionServiceServer = (*Server)(nil)

// New returns a server. Accounts are deleted while Run is running.
func New(config Config) *Server {
	s := &Server{
		Config:    config,
		cancelKey: seal.NewKey(config.ServiceKey, "cancel deletion"),
		userKey:   seal.NewKey(config.ServiceKey, "deleted user"),
	}
	s.Worker = jobs.NewWorker(jobs.PollInterval, config.Log, "failed to delete an account", s.work)
	return s
}

// DeleteAccount starts the deletion of the acting user's account. The lock of the user makes
// simultaneous requests and sign-ins wait, and the session must be live, so one request succeeds.
//
// Errors: UNAUTHORIZED if the session has ended.
func (s *Server) DeleteAccount(
	ctx context.Context, req *authv1.DeleteAccountRequest,
) (*authv1.DeleteAccountResponse, error) {
	id, _ := caller.From(ctx)
	confirmed, problem := email.Parse(req.GetEmail())
	if problem != nil {
		return nil, apierr.Validation([]apierr.Field{*problem})
	}
	now := s.Now().UTC()
	d := deletion{
		ID: uuid.New(), UserID: &id.UserID, UserMAC: s.mac(id.UserID), RequestedAt: now,
		ErasesAt: now.Add(s.Grace),
	}
	resp := &authv1.DeleteAccountResponse{
		DeletionId: d.ID.String(), ErasesAt: calendar.FormatTime(d.ErasesAt),
	}
	call := idem.Call{Scope: id.UserID.String(), Key: req.GetIdempotencyKey(), Request: req}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		user, err := lockUserInSession(ctx, tx, id.UserID, id.SessionID, now)
		if err != nil {
			return pg.IfNoRows(err, apierr.Unauthorized)
		}
		if user.Email != confirmed {
			return apierr.Invalid("email", "must be the e-mail of the account")
		}
		if err := insertDeletion(ctx, tx, d); err != nil {
			return err
		}
		if err := s.EndAccess(ctx, tx, id.UserID, req.GetUserAgent()); err != nil {
			return err
		}
		return s.report(ctx, tx, user, mail.DeletionRequested, d.ErasesAt)
	})
	if err != nil {
		return nil, err
	}
	s.Mails.Wake()
	s.Wake()
	return resp, nil
}

// report queues a mail about a deletion.
func (s *Server) report(
	ctx context.Context, tx pgx.Tx, to account, template string, erases time.Time,
) error {
	_, err := s.Mails.Queue(ctx, tx, mail.Mail{
		ID: s.NewID(), UserID: to.ID, Template: template, To: to.Email, Language: to.Language,
		Params: map[string]string{"Time": erases.UTC().Format("2006-01-02 15:04 UTC")},
		TTL:    max(s.Grace, time.Hour),
	})
	return err
}

// Pending returns the error of a sign-in if the account of the user is being deleted, and nil
// otherwise. tx must have locked the user.
func (s *Server) Pending(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	pending, err := selectPending(ctx, tx, user)
	if err != nil || len(pending) == 0 {
		return err
	}
	d, now := pending[0], s.Now()
	if !d.cancelable(now) {
		return errPending
	}
	token, err := s.cancelKey.Seal(d.ID[:], cancelUse(now))
	if err != nil {
		return err
	}
	return errPending.With("cancelToken", base64.RawURLEncoding.EncodeToString(token)).
		With("erasesAt", calendar.FormatTime(d.ErasesAt))
}

// cancelUse returns the period in which a token to cancel was sealed.
func cancelUse(at time.Time) string { return at.UTC().Truncate(cancelTTL).Format(time.RFC3339) }

// CancelAccountDeletion deletes a deletion in its grace period. The deletion of the row decides
// between simultaneous calls. Errors: DELETION_NOT_FOUND.
func (s *Server) CancelAccountDeletion(
	ctx context.Context, req *authv1.CancelAccountDeletionRequest,
) (*authv1.CancelAccountDeletionResponse, error) {
	resp := &authv1.CancelAccountDeletionResponse{}
	hash := sha256.Sum256([]byte(req.GetCancelToken()))
	call := idem.Call{
		Scope: "cancel-deletion:" + hex.EncodeToString(hash[:]), Key: req.GetIdempotencyKey(),
		Request: req,
	}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		id, err := s.openCancel(req.GetCancelToken())
		if err != nil {
			return err
		}
		d, err := deleteDeletion(ctx, tx, id, s.Now())
		if err != nil {
			return pg.IfNoRows(err, errNotFound)
		}
		user, err := selectAccount(ctx, tx, *d.UserID)
		if err != nil {
			return err
		}
		if err := s.Canceled(ctx, tx, user.ID, req.GetUserAgent()); err != nil {
			return err
		}
		return s.report(ctx, tx, user, mail.DeletionCanceled, d.ErasesAt)
	})
	if err != nil {
		return nil, err
	}
	s.Mails.Wake()
	return resp, nil
}

// openCancel returns the id of the deletion that a token cancels. A token is valid in the period in
// which it was sealed and in the next one.
func (s *Server) openCancel(token string) (uuid.UUID, error) {
	if token == "" {
		return uuid.Nil, apierr.Invalid("cancelToken", "is required")
	}
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return uuid.Nil, errNotFound
	}
	now := s.Now()
	for _, at := range []time.Time{now, now.Add(-cancelTTL)} {
		if id, err := s.cancelKey.Open(sealed, cancelUse(at)); err == nil {
			return uuid.FromBytes(id)
		}
	}
	return uuid.Nil, errNotFound
}

// GetAccountDeletion returns the state of a deletion. Errors: DELETION_NOT_FOUND, also for an id
// that is not a UUID, because the id is a secret.
func (s *Server) GetAccountDeletion(
	ctx context.Context, req *authv1.GetAccountDeletionRequest,
) (*authv1.GetAccountDeletionResponse, error) {
	id, ok := text.ID(req.GetDeletionId())
	if !ok {
		return nil, errNotFound
	}
	d, err := selectDeletion(ctx, s.DB, id)
	if err != nil {
		return nil, pg.IfNoRows(err, errNotFound)
	}
	return &authv1.GetAccountDeletionResponse{Deletion: d.proto()}, nil
}

// Expire deletes the certificates of deletions that ended more than a year ago.
func (s *Server) Expire(ctx context.Context) error {
	return deleteCertificates(ctx, s.DB, s.Now().AddDate(-1, 0, 0))
}

// mac returns the MAC by which a certificate recognizes its user.
func (s *Server) mac(user uuid.UUID) []byte {
	mac := hmac.New(sha256.New, s.userKey[:])
	mac.Write(user[:])
	return mac.Sum(nil)
}
