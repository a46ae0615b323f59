package budget

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
	deliveryWorkers = 8
	// turnLength is how many deliveries one webhook gets before others have their turn.
	turnLength = 5
	// turnsPerUser is how many of a user's webhooks one replica serves at a time, so that whose addresses are slow does not
	// keep others waiting.
	turnsPerUser = 2
	attemptTime  = 10 * time.Second
	turnLease    = turnLength*attemptTime + time.Minute
	deliveryLog  = 30 * 24 * time.Hour
	// maxAnswer is how much of an answer is read, so that the connection can be used again. Nothing of it is kept.
	maxAnswer = 1 << 10
)

var errAddressNotPublic = errors.New("the address is not one of the internet")

// deliveryClient sends requests to URLs that users choose. No other HTTP client may do that.
type deliveryClient struct{ *http.Client }

// newDeliveryClient returns a client that connects to allowed addresses only and follows no redirects. It checks the resolved
// address of each connection, so that a change of the name's address cannot bypass the check. A nil resolver or nil roots,
// the trusted authorities, mean those of the system.
func newDeliveryClient(allowed func(netip.Addr) bool, resolver *net.Resolver, roots *x509.CertPool) deliveryClient {
	dialer := &net.Dialer{
		Timeout:  attemptTime / 2,
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
		Timeout:       attemptTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			// A proxy from the environment would bypass the check of the address.
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
			TLSHandshakeTimeout:    attemptTime / 2,
			MaxIdleConns:           100,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: 16 << 10,
			DisableCompression:     true,
			ForceAttemptHTTP2:      true,
		},
	}}
}

// deliver works on webhooks until ctx ends.
func (s *server) deliver(ctx context.Context) {
	for ctx.Err() == nil {
		worked, err := s.deliveryTurn(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "delivering events", "error", err)
		}
		if worked && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.queued:
		}
	}
}

// wakeDeliveries spares a delivery the wait for the next look.
func (s *server) wakeDeliveries() {
	select {
	case s.queued <- struct{}{}:
	default:
	}
}

// deliveryTurn serves one webhook, oldest event first, and reports whether there was one to serve. A worker that dies
// leaves its delivery to the next one: a receiver may see an event twice.
func (s *server) deliveryTurn(ctx context.Context) (bool, error) {
	until := s.now().Add(turnLease)
	w, err := s.claim(ctx, until)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	recording, paused := context.WithoutCancel(ctx), s.now()
	defer func() {
		if err := releaseWebhook(recording, s.db, w, until, paused); err != nil {
			s.log.WarnContext(ctx, "the webhook waits for its lease to end", "webhook", w.ID, "error", err)
		}
	}()
	// Somebody else may be free for the rest.
	s.wakeDeliveries()
	due, err := selectDue(ctx, s.db, w, s.now(), turnLength)
	if err != nil {
		return false, err
	}
	for _, d := range due {
		began := s.now()
		responseStatus, problem := s.attempt(ctx, w, d)
		if responseStatus == 0 && ctx.Err() != nil {
			// It was cut short by our own end.
			return false, nil
		}
		now := s.now().UTC()
		d = d.after(now, responseStatus, problem, rand.Float64()) //nolint:gosec // Jitter is no secret.
		d.DurationMS = new(int32(now.Sub(began).Milliseconds()))
		if err := updateDelivery(recording, s.db, d); err != nil {
			return false, err
		}
		w, paused = w.after(now, problem)
		if reason, hopeless := w.hopeless(now, responseStatus); hopeless {
			return true, disableWebhook(recording, s.db, w, reason, now)
		}
		if problem != "" {
			return true, nil
		}
	}
	return true, nil
}

func (s *server) claim(ctx context.Context, until time.Time) (webhook, error) {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	return claimWebhook(ctx, s.db, s.now(), until, turnsPerUser)
}

// attempt sends an event. It returns the status of the response, 0 without one, and the problem of a failed attempt.
func (s *server) attempt(ctx context.Context, w webhook, d delivery) (status int, problem string) {
	// The webhook may have been created while more destinations were allowed.
	if s.webhooksTo.urlProblem(w.URL) != "" {
		return 0, "address_not_public"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(d.Body))
	if err != nil {
		return 0, "broken"
	}
	signature, err := w.signature(s.sealer, s.now(), d.Body)
	if err != nil {
		s.log.ErrorContext(ctx, "signing a delivery", "webhook", w.ID, "error", err)
		return 0, "broken"
	}
	req.Header.Set("Content-Type", "application/cloudevents+json")
	req.Header.Set("User-Agent", "Coffer-Webhooks/1")
	req.Header.Set("Coffer-Signature", signature)
	req.Header.Set("Coffer-Event-Id", d.EventID.String())
	req.Header.Set("Coffer-Delivery-Id", d.ID.String())
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, why(err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer)
	switch resp.StatusCode / 100 {
	case 2:
		return resp.StatusCode, ""
	case 3:
		return resp.StatusCode, "redirect"
	}
	return resp.StatusCode, "status"
}

// why is what a webhook's user learns of an error. More might tell of our network.
func why(err error) string {
	var timeout net.Error
	if errors.Is(err, errAddressNotPublic) {
		return "address_not_public"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "dns"
	}
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "timeout"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "tls"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "tls"
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return "tls"
	}
	return "connect"
}

// signature is the value of Coffer-Signature: a time, and an HMAC-SHA256 of time and body by each live secret.
func (w webhook) signature(sealer seal.Key, now time.Time, body []byte) (string, error) {
	secrets := [][]byte{w.Secret}
	if w.PreviousUntil != nil && now.Before(*w.PreviousUntil) {
		secrets = append(secrets, w.PreviousSecret)
	}
	t := strconv.FormatInt(now.Unix(), 10)
	signature := "t=" + t
	for i, sealed := range secrets {
		secret, err := sealer.Open(sealed, w.ID.String())
		if err != nil && i > 0 {
			// The service key was changed, which is why the secret was.
			continue
		}
		if err != nil {
			return "", fmt.Errorf("opening a secret of webhook %s: %w", w.ID, err)
		}
		m := hmac.New(sha256.New, secret)
		m.Write([]byte(t + "."))
		m.Write(body)
		signature += ",v1=" + hex.EncodeToString(m.Sum(nil))
	}
	return signature, nil
}
