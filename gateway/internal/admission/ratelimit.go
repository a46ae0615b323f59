package admission

import (
	"math"
	"net/http"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var errRateLimited = apierr.New(restv1.Reason_RATE_LIMITED)

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

// newRateLimit returns nil for 0, which limits nothing.
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

// check returns an error if the bucket of a caller has no token, with the time until it has one. It
// takes none.
func (l *rateLimit) check(who string) error {
	if l == nil {
		return nil
	}
	bucket, ok := l.buckets.Get(who)
	if !ok {
		return nil
	}
	left := bucket.TokensAt(l.now())
	if left >= 1 {
		return nil
	}
	return errRateLimited.After(time.Duration((1 - left) / l.perSecond * float64(time.Second)))
}

// take takes weight tokens, at most a full burst, from the bucket of a caller. RateLimit-Limit is
// the burst, and RateLimit-Reset the number of seconds until the bucket is full again. The error
// has the time until the request would succeed.
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
	untilFull := (float64(l.burst()) - left) / l.perSecond
	header.Set("RateLimit-Limit", strconv.Itoa(l.burst()))
	header.Set("RateLimit-Remaining", strconv.Itoa(int(left)))
	header.Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil(untilFull))))
	if allowed {
		return nil
	}
	seconds := (float64(weight) - left) / l.perSecond
	return errRateLimited.After(time.Duration(seconds * float64(time.Second)))
}
