package gateway

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/coffer-budget/coffer/internal/caller"
)

const (
	// burstSeconds is how much of its rate a caller may use up at once.
	burstSeconds = 5
	// maxBuckets bounds the memory; the caller that was seen longest ago starts anew.
	maxBuckets = 100_000
)

// rateLimit is a token bucket for each user, and for each address of those who are not signed in. It is this instance's own:
// with several, a caller may come to as many times the rate.
type rateLimit struct {
	perSecond float64
	buckets   *lru.Cache[string, *rate.Limiter]
	now       func() time.Time
}

// newRateLimit returns nil, which limits nothing, for 0.
func newRateLimit(perSecond float64, now func() time.Time) (*rateLimit, error) {
	if perSecond <= 0 {
		return nil, nil
	}
	buckets, err := lru.New[string, *rate.Limiter](maxBuckets)
	if err != nil {
		return nil, err
	}
	return &rateLimit{perSecond: perSecond, buckets: buckets, now: now}, nil
}

func (l *rateLimit) burst() int { return int(math.Ceil(l.perSecond * burstSeconds)) }

// take counts a request of a caller as so many, but no more than there can be at once, says in the header what is left, and
// returns an error when that is less.
func (l *rateLimit) take(who string, weight int, header http.Header) error {
	if l == nil {
		return nil
	}
	weight = min(weight, l.burst())
	bucket, ok := l.buckets.Get(who)
	if !ok {
		bucket = rate.NewLimiter(rate.Limit(l.perSecond), l.burst())
		// Of simultaneous first requests, one brings the bucket of all.
		if first, ok, _ := l.buckets.PeekOrAdd(who, bucket); ok {
			bucket = first
		}
	}
	now := l.now()
	allowed := bucket.AllowN(now, weight)
	left := max(0, bucket.TokensAt(now))
	header.Set("RateLimit-Limit", strconv.Itoa(l.burst()))
	header.Set("RateLimit-Remaining", strconv.Itoa(int(left)))
	header.Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil((float64(l.burst())-left)/l.perSecond))))
	if allowed {
		return nil
	}
	return errRateLimited.After(time.Duration((float64(weight) - left) / l.perSecond * float64(time.Second)))
}

// limit counts a request against its user, or its address when it is nobody's.
func (f *front) limit(x *exchange, r *http.Request) error {
	if x.user != (caller.Identity{}) {
		return f.limits.take("user "+x.user.UserID.String(), x.route.weight, x.header)
	}
	return f.limits.take("address "+network(clientAddress(r, f.config.TrustProxyHops)), x.route.weight, x.header)
}

// network counts what is no address by itself.
func network(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	return caller.Network(addr)
}
