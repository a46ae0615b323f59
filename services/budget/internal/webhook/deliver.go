package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/seal"
)

const (
	// deliveryWorkers is the number of webhooks that a replica serves at the same time.
	deliveryWorkers = 8
	// batchSize is the number of deliveries that a worker sends to one webhook before it serves
	// another one.
	batchSize = 5
	// webhooksPerUser is the number of a user's webhooks that one replica serves at a time. So slow
	// addresses of one user leave most workers to other users.
	webhooksPerUser = 2
	// attemptTimeout limits a whole attempt, from the resolution of the name to the response.
	attemptTimeout = 10 * time.Second
	// webhookLease covers a batch in which every attempt times out.
	webhookLease = batchSize*attemptTimeout + time.Minute
	// logRetention is the time for which deliveries are listed and can be repeated.
	logRetention = 30 * 24 * time.Hour
	// maxResponse is the number of bytes of a response that are read, so that the connection can be
	// reused. They are discarded.
	maxResponse = 1 << 10
)

var errAddressNotPublic = errors.New("the address is not public")

// deliveryClient sends requests to URLs that users choose. No other HTTP client may do that.
type deliveryClient struct{ *http.Client }

// newDeliveryClient returns a client that connects to allowed addresses only and follows no
// redirects. It checks the resolved address of each connection, so that a change of the name's
// address cannot bypass the check. resolver and roots, the trusted authorities, default to the
// system's.
func newDeliveryClient(
	allowed func(netip.Addr) bool, resolver *net.Resolver, roots *x509.CertPool,
) deliveryClient {
	dialer := &net.Dialer{
		Timeout:  attemptTimeout / 2,
		Resolver: resolver,
		Control: func(_, address string, _ syscall.RawConn) error {
			addr, err := netip.ParseAddrPort(address)
			if err != nil || !allowed(addr.Addr()) {
				return errAddressNotPublic
			}
			return nil
		},
	}
	return deliveryClient{&http.Client{
		Timeout: attemptTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
		Transport: &http.Transport{
			// A proxy from the environment would bypass the check of the address.
			Proxy:               nil,
			DialContext:         dialer.DialContext,
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
			TLSHandshakeTimeout: attemptTimeout / 2,
			MaxIdleConns:        100,
			// A webhook has one request at a time.
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: 16 << 10,
			// Responses are discarded, so they need not be compressed.
			DisableCompression: true,
			ForceAttemptHTTP2:  true,
		},
	}}
}

// deliverBatch sends due deliveries of one webhook, oldest first, and reports whether a webhook had
// any. It stops at the first failure. A worker that stops after sending and before recording leaves
// the delivery to another worker, which repeats it.
func (s *Server) deliverBatch(ctx context.Context) (bool, error) {
	until := s.now().Add(webhookLease)
	claimed, err := s.claim(ctx, until)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	// The result of a sent request is recorded also if the service stops meanwhile.
	recording := context.WithoutCancel(ctx)
	paused := s.now()
	defer func() {
		if err := releaseWebhook(recording, s.db, claimed, until, paused); err != nil {
			s.log.WarnContext(ctx, "failed to release a webhook, its lease must expire first",
				"webhook", claimed.ID, "error", err)
		}
	}()
	// More webhooks may be due, for another idle worker.
	s.Deliveries.Wake()
	due, err := selectDue(ctx, s.db, claimed, s.now())
	if err != nil {
		return false, err
	}
	for _, delivery := range due {
		began := s.now()
		responseStatus, problem := s.attempt(ctx, claimed, delivery)
		if responseStatus == 0 && ctx.Err() != nil {
			// The service stops and canceled the request. The attempt does not count.
			return false, nil
		}
		s.countAttempt(ctx, problem, 1)
		now := s.now().UTC()
		jitter := rand.Float64() //nolint:gosec // Jitter is no secret.
		delivery = delivery.attempted(now, responseStatus, problem, jitter)
		delivery.DurationMS = new(int32(now.Sub(began).Milliseconds()))
		if err := updateDelivery(recording, s.db, delivery); err != nil {
			return false, err
		}
		claimed, paused = claimed.attempted(now, problem)
		if reason, disabled := claimed.disables(now, responseStatus); disabled {
			// The remaining deliveries wait until the user enables the webhook.
			return true, disableWebhook(recording, s.db, claimed, reason, now)
		}
		if problem != "" {
			return true, nil
		}
	}
	return true, nil
}

// claim leases the webhook with the oldest due delivery. It returns pgx.ErrNoRows if no delivery is
// due. The lock keeps two workers of this replica from exceeding webhooksPerUser. It does not
// extend to other replicas (ADR 23).
func (s *Server) claim(ctx context.Context, until time.Time) (webhook, error) {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	return claimWebhook(ctx, s.db, s.now(), until, webhooksPerUser)
}

// attempt sends an event. It returns the status of the response, 0 without one, and the problem of
// a failed attempt. The body is stored, so that all attempts send the same bytes. The codes of
// problems are those of publicReason, redirect and status for a response other than 2xx, and broken
// for a webhook that cannot be used, for example because its secret was sealed with another service
// key.
func (s *Server) attempt(
	ctx context.Context, webhook webhook, delivery delivery,
) (status int, problem string) {
	// The webhook may have been created when more destinations were allowed.
	if s.destinations.urlProblem(webhook.URL) != "" {
		return 0, "address_not_public"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, webhook.URL,
		bytes.NewReader(delivery.Body))
	if err != nil {
		return 0, broken
	}
	signature, err := webhook.signature(s.sealer, s.now(), delivery.Body)
	if err != nil {
		s.log.ErrorContext(ctx, "failed to sign a delivery", "webhook", webhook.ID, "error", err)
		return 0, broken
	}
	req.Header.Set("Content-Type", "application/cloudevents+json")
	req.Header.Set("User-Agent", "Coffer-Webhooks/1")
	req.Header.Set("Coffer-Signature", signature)
	req.Header.Set("Coffer-Event-Id", delivery.EventID.String())
	req.Header.Set("Coffer-Delivery-Id", delivery.ID.String())
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, publicReason(err)
	}
	defer func() { _ = resp.Body.Close() }()
	// The rest of a long response is never read: the connection is closed instead.
	_, _ = io.CopyN(io.Discard, resp.Body, maxResponse)
	switch resp.StatusCode / 100 {
	case 2:
		return resp.StatusCode, ""
	case 3:
		return resp.StatusCode, "redirect"
	}
	return resp.StatusCode, "status"
}

// publicReason returns the code of an error for the webhook's user. The error itself could reveal
// details of the internal network.
func publicReason(err error) string {
	var timeout net.Error
	// The dialer wraps this error in errors of other kinds, so it is checked first.
	if errors.Is(err, errAddressNotPublic) {
		return "address_not_public"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "dns"
	}
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "timeout"
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	if untrusted || noTLS || alert {
		return "tls"
	}
	return "connect"
}

// signature returns the value of Coffer-Signature: a time, and an HMAC-SHA256 of time and body for
// each valid secret. Receivers accept a request if one of the signatures is valid.
func (w webhook) signature(sealer seal.Key, now time.Time, body []byte) (string, error) {
	secrets := [][]byte{w.Secret}
	if w.PreviousUntil != nil && now.Before(*w.PreviousUntil) {
		secrets = append(secrets, w.PreviousSecret)
	}
	timestamp := strconv.FormatInt(now.Unix(), 10)
	signature := "t=" + timestamp
	for i, sealed := range secrets {
		secret, err := sealer.Open(sealed, w.ID.String())
		if err != nil && i > 0 {
			// The previous secret was sealed with a former service key, so it cannot sign any more.
			continue
		}
		if err != nil {
			return "", fmt.Errorf("opening a secret of webhook %s: %w", w.ID, err)
		}
		m := hmac.New(sha256.New, secret)
		// The time is signed, so that receivers can reject old requests that an attacker repeats.
		m.Write([]byte(timestamp + "."))
		m.Write(body)
		signature += ",v1=" + hex.EncodeToString(m.Sum(nil))
	}
	return signature, nil
}
