package auth

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/email"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
	"github.com/coffer-budget/coffer/services/auth/internal/password"
)

// Register creates a user. It hashes the password before the transaction, so that no connection
// waits for the hasher. It does not hash for a repeated Idempotency-Key.
//
// The unique index on e-mails decides between simultaneous requests. Errors: EMAIL_ALREADY_EXISTS,
// and SERVICE_UNAVAILABLE if the queue of the hasher is full.
func (s *server) Register(
	ctx context.Context, req *authv1.RegisterRequest,
) (*authv1.RegisterResponse, error) {
	created, err := parseRegister(req)
	if err != nil {
		return nil, err
	}
	// The user has no id yet, so the idempotency key is scoped by e-mail.
	call := idem.Call{
		Scope: "register:" + created.Email, Key: req.GetIdempotencyKey(), Request: req,
	}
	resp := &authv1.RegisterResponse{}
	if replayed, err := idem.Replay(ctx, s.db, call, resp); err != nil || replayed {
		resp.Replayed = replayed
		return resp, err
	}
	created.PasswordHash, err = s.hasher.Hash(ctx, req.GetPassword())
	if err != nil {
		return nil, err
	}
	created.ID, created.CreatedAt, created.Version = s.newID(), s.now().UTC(), 1
	created.UpdatedAt = created.CreatedAt
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		if err := insertUser(ctx, tx, created); err != nil {
			return emailTaken(err)
		}
		err := insertAudit(ctx, tx,
			s.entry(auditRegistered, created.ID, uuid.Nil, s.newClient(ctx, req.GetUserAgent())))
		if err != nil {
			return err
		}
		// The response is complete before the commit, because InTx stores it for repetitions of the
		// request.
		resp.User, resp.Etag = created.proto(), etag.Format(created.Version)
		if s.config.verification() != verificationOff {
			if _, err := s.queueVerification(ctx, tx, created); err != nil {
				return err
			}
		}
		return s.publish(ctx, tx, created.ID, &authv1.UserRegistered{User: created.proto()})
	})
	if err != nil {
		return nil, err
	}
	s.mails.Wake()
	return resp, nil
}

func parseRegister(req *authv1.RegisterRequest) (user, error) {
	var p apierr.Problems
	var u user
	var problem *apierr.Field
	u.Name, problem = text.Name("name", req.GetName())
	p.Field(problem)
	u.Email, problem = email.Parse(req.GetEmail())
	p.Field(problem)
	u.Language = mail.Language(req.GetAcceptLanguage())
	p.Field(password.CheckNew("password", req.GetPassword(), u.Email))
	return u, p.Err()
}

func emailTaken(err error) error {
	if pg.IsViolation(err, usersEmailKey) {
		return errEmailAlreadyExists
	}
	return err
}

// proto converts the user. The hash of the password is not part of the message.
func (u user) proto() *authv1.User {
	return &authv1.User{
		Id: u.ID.String(), Name: u.Name, Email: u.Email,
		CreatedAt: calendar.FormatTime(u.CreatedAt), EmailVerified: u.VerifiedAt != nil,
	}
}
