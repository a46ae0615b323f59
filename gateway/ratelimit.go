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
	// burstSeconds is the size of a burst, in seconds of the rate.
	burstSeconds = 5
	// maxBuckets limits the memory. The bucket that was unused for the longest time is removed, and
	// its caller starts with a full one.
	maxBuckets = 100_000
)

// rateLimit is a rate limiter with a token bucket for each user, and for each address of requests
// without a user. Instances count separately: with n instances, a caller can reach n times the
// rate.
type rateLimit struct {
	perSecond float64
	buckets   *lru.Cache[string, *rate.Limiter]
	now       func() time.Time
}

// newRateLimit returns a rate limiter, or nil for 0, which limits nothing.
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

// burst returns the size of a full bucket.
func (l *rateLimit) burst() int { return int(math.Ceil(l.perSecond * burstSeconds)) }

// take takes weight tokens, at most a full burst, from the bucket of a caller. It writes the
// remaining tokens to the header, and returns an error if there are too few. RateLimit-Limit is the
// burst, and RateLimit-Reset the number of seconds until the bucket is full again. The error has
// the time until the request would succeed.
func (l *rateLimit) take(who string, weight int, header http.Header) error {
	if l == nil {
		return nil
	}
	weight = min(weight, l.burst())
	bucket, ok := l.buckets.Get(who)
	if !ok {
		bucket = rate.NewLimiter(rate.Limit(l.perSecond), l.burst())
		// Simultaneous first requests share the bucket of one of them.
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

// bucket returns the key of the bucket for a request: its user, or its address if it has no user.
func (s *restServer) bucket(r *http.Request, user caller.Identity) string {
	if user != (caller.Identity{}) {
		return "user " + user.UserID.String()
	}
	return "address " + network(clientAddress(r, s.config.TrustProxyHops))
}

// network returns the key by which requests of an address are counted: the address, or for IPv6 its
// network, because a client has a whole network of addresses. Text that is not an address counts as
// it is.
func network(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	return caller.Network(addr)
}
