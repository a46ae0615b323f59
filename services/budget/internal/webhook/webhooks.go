package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

const (
	// maxWebhooks limits the deliveries that one event of a user causes.
	maxWebhooks = 20
	// maxPatterns is more than the number of event types.
	maxPatterns = 50
	// secretLife is the time for which a replaced secret still signs.
	secretLife = 24 * time.Hour
)

// CreateWebhook creates a webhook and returns its secret. No other RPC returns that secret again. A
// user has at most 20 webhooks. A repeated Idempotency-Key returns the first response with the same
// secret.
func (s *Server) CreateWebhook(
	ctx context.Context, req *budgetv1.CreateWebhookRequest,
) (*budgetv1.CreateWebhookResponse, error) {
	created := webhook{
		ID: s.newID(), UserID: caller.ID(ctx), Enabled: true, Version: 1, CreatedAt: s.now().UTC(),
	}
	created.UpdatedAt = created.CreatedAt
	var problems apierr.Problems
	created.URL = s.destinations.parseURL(&problems, req.GetUrl())
	created.Description = parseDescription(&problems, req.GetDescription())
	created.Events = parsePatterns(&problems, req.GetEvents())
	if req.Enabled != nil {
		created.Enabled = req.GetEnabled()
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	if err := created.checkScope(ctx); err != nil {
		return nil, err
	}
	// The secret is part of the recorded response, so that a repeated request returns the same one.
	secret, err := s.newSecret(&created)
	if err != nil {
		return nil, err
	}
	resp := &budgetv1.CreateWebhookResponse{
		Secret: secret, Webhook: created.proto(), Etag: etag.Format(created.Version),
	}
	call := idem.Call{Scope: created.UserID.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		n, err := countWebhooks(ctx, tx, created.UserID)
		if err != nil {
			return err
		}
		if n >= maxWebhooks {
			return errWebhookLimitReached
		}
		return insertWebhook(ctx, tx, created)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// ListWebhooks returns the acting user's webhooks without secrets, newest first.
func (s *Server) ListWebhooks(
	ctx context.Context, req *budgetv1.ListWebhooksRequest,
) (*budgetv1.ListWebhooksResponse, error) {
	user := caller.ID(ctx)
	webhooks, pagination, err := page.List(s.cursors, page.Query[webhook, uuid.UUID]{
		Scope: "webhooks " + user.String(), Limit: req.Limit, Cursor: req.GetCursor(),
		First:    uuid.Max,
		Position: func(w webhook) uuid.UUID { return w.ID },
		Select: func(before uuid.UUID, limit int) ([]webhook, error) {
			return selectWebhooks(ctx, s.db, user, before, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	resp := &budgetv1.ListWebhooksResponse{Pagination: pagination}
	for _, w := range webhooks {
		resp.Webhooks = append(resp.Webhooks, w.proto())
	}
	return resp, nil
}

// GetWebhook returns one of the acting user's webhooks without the secret.
func (s *Server) GetWebhook(
	ctx context.Context, req *budgetv1.GetWebhookRequest,
) (*budgetv1.GetWebhookResponse, error) {
	w, err := s.webhookOf(ctx, s.db, req.GetId())
	if err != nil {
		return nil, err
	}
	return &budgetv1.GetWebhookResponse{Webhook: w.proto(), Etag: etag.Format(w.Version)}, nil
}

// UpdateWebhook changes a webhook. Queued deliveries keep their bodies and are sent to the new URL.
// A change ends the pause of a failing webhook, because it may have repaired it.
func (s *Server) UpdateWebhook(
	ctx context.Context, req *budgetv1.UpdateWebhookRequest,
) (*budgetv1.UpdateWebhookResponse, error) {
	if _, err := parseWebhookID(req.GetId()); err != nil {
		return nil, err
	}
	if err := apierr.CheckChange(req); err != nil {
		return nil, err
	}
	var problems apierr.Problems
	// Invalid fields take precedence over an unknown webhook and a stale version.
	if (&webhook{}).change(&problems, req, s.destinations); problems.Err() != nil {
		return nil, problems.Err()
	}
	resp := &budgetv1.UpdateWebhookResponse{}
	err := pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		w, err := s.lockedWebhook(ctx, tx, req.GetId(), req.GetIfMatch())
		if err != nil {
			return err
		}
		w.change(&problems, req, s.destinations)
		if err := w.checkUpdate(ctx, req); err != nil {
			return err
		}
		w.Version++
		w.UpdatedAt = s.now().UTC()
		resp.Webhook, resp.Etag = w.proto(), etag.Format(w.Version)
		return updateWebhook(ctx, tx, w)
	})
	if err != nil {
		return nil, err
	}
	s.Deliveries.Wake()
	return resp, nil
}

// change sets the fields that the request has. A URL must be one of the destinations. It adds the
// problems of invalid fields.
func (w *webhook) change(
	problems *apierr.Problems, req *budgetv1.UpdateWebhookRequest, to destinations,
) {
	if req.Url != nil {
		w.URL = to.parseURL(problems, req.GetUrl())
	}
	if req.Description != nil {
		w.Description = parseDescription(problems, req.GetDescription())
	}
	if req.GetEvents() != nil {
		w.Events = parsePatterns(problems, req.GetEvents().GetValues())
	}
	if req.Enabled != nil {
		// The user's decision replaces that of Coffer.
		w.Enabled, w.DisabledReason = req.GetEnabled(), nil
	}
}

// DeleteWebhook deletes a webhook with its deliveries, also the queued ones. A request that is
// being sent is not interrupted.
func (s *Server) DeleteWebhook(
	ctx context.Context, req *budgetv1.DeleteWebhookRequest,
) (*budgetv1.DeleteWebhookResponse, error) {
	var id uuid.UUID
	err := pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		w, err := s.lockedWebhook(ctx, tx, req.GetId(), req.GetIfMatch())
		if err != nil {
			return err
		}
		id = w.ID
		return deleteWebhook(ctx, tx, w.UserID, w.ID)
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.DeleteWebhookResponse{Id: id.String()}, nil
}

// RotateWebhookSecret replaces the secret. The previous one also signs for a day, so that receivers
// can be changed meanwhile. A second rotation within that day ends the oldest secret immediately.
func (s *Server) RotateWebhookSecret(
	ctx context.Context, req *budgetv1.RotateWebhookSecretRequest,
) (*budgetv1.RotateWebhookSecretResponse, error) {
	if _, err := parseWebhookID(req.GetId()); err != nil {
		return nil, err
	}
	resp := &budgetv1.RotateWebhookSecretResponse{}
	call := idem.Call{Scope: caller.ID(ctx).String(), Key: req.GetIdempotencyKey(), Request: req}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		webhook, err := s.lockedWebhook(ctx, tx, req.GetId(), "")
		if err != nil {
			return err
		}
		// A rotation does not change the version: no field changes that a client can read and
		// overwrite.
		webhook.PreviousSecret = webhook.Secret
		webhook.PreviousUntil = new(s.now().UTC().Add(secretLife))
		if resp.Secret, err = s.newSecret(&webhook); err != nil {
			return err
		}
		resp.PreviousSecretUntil = calendar.FormatTime(*webhook.PreviousUntil)
		webhook.UpdatedAt = s.now().UTC()
		return updateWebhook(ctx, tx, webhook)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func (s *Server) newSecret(webhook *webhook) (string, error) {
	bits := make([]byte, 32)
	if _, err := rand.Read(bits); err != nil {
		return "", fmt.Errorf("making a secret: %w", err)
	}
	secret := "whsec_" + base64.RawURLEncoding.EncodeToString(bits)
	// The webhook's id is authenticated with the secret, so that a sealed secret cannot be copied
	// to another webhook.
	sealed, err := s.sealer.Seal([]byte(secret), webhook.ID.String())
	if err != nil {
		return "", fmt.Errorf("sealing a secret: %w", err)
	}
	webhook.Secret = sealed
	return secret, nil
}

func (s *Server) webhookOf(ctx context.Context, q pg.Querier, id string) (webhook, error) {
	parsed, err := parseWebhookID(id)
	if err != nil {
		return webhook{}, err
	}
	w, err := selectWebhook(ctx, q, caller.ID(ctx), parsed)
	return w, pg.IfNoRows(err, errWebhookNotFound)
}

// lockedWebhook returns one of the acting user's webhooks, locked until tx ends, if it has the
// version of ifMatch.
func (s *Server) lockedWebhook(
	ctx context.Context, tx pgx.Tx, id, ifMatch string,
) (webhook, error) {
	parsed, err := parseWebhookID(id)
	if err != nil {
		return webhook{}, err
	}
	if err := lockWebhook(ctx, tx, caller.ID(ctx), parsed); err != nil {
		return webhook{}, err
	}
	w, err := s.webhookOf(ctx, tx, id)
	if err == nil && !etag.Matches(ifMatch, w.Version) {
		return webhook{}, apierr.VersionMismatch
	}
	return w, err
}

func parseWebhookID(s string) (uuid.UUID, error) {
	id, ok := text.ID(s)
	if !ok {
		return uuid.Nil, errInvalidWebhookID
	}
	return id, nil
}

func parseDescription(p *apierr.Problems, s string) string {
	description, problem := text.Description("description", s)
	p.Field(problem)
	return description
}

// proto converts the webhook, without its secrets.
func (w webhook) proto() *budgetv1.Webhook {
	message := &budgetv1.Webhook{
		Id:          w.ID.String(),
		Url:         w.URL,
		Description: w.Description,
		Events:      w.Events,
		Enabled:     w.Enabled,
		CreatedAt:   calendar.FormatTime(w.CreatedAt),
		UpdatedAt:   calendar.FormatTime(w.UpdatedAt),
	}
	if w.DisabledReason != nil {
		message.DisabledReason = new(string(*w.DisabledReason))
	}
	return message
}
