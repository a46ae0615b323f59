package signing

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// TestRotation requires for any sequence of rotations that there is always a key that signs, that
// no key signs before verifiers had time to load it, and that none is deleted while a token of it
// may be valid.
func TestRotation(t *testing.T) {
	t.Parallel()
	ring := New(Config{ServiceKey: "test", NewID: uuid.New})
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.IntRange(int(MinRotation/time.Second), 7200).Draw(t, "rotation")
		rotation := time.Duration(seconds) * time.Second
		ttl := time.Duration(rapid.IntRange(1, 7200).Draw(t, "ttl")) * time.Second
		now := time.Unix(1_800_000_000, 0)
		var stored []Key
		created, lastSigned := map[string]time.Time{}, map[string]time.Time{}
		for index := range 30 {
			if from, due := nextKey(ring.open(stored), now, rotation); due {
				k, err := ring.makeKey(from)
				if err != nil {
					t.Fatal(err)
				}
				stored, created[k.KID] = append(stored, k), now
			}
			spent := strings.Join(spentKeys(stored, now, ttl), " ")
			for kid, at := range lastSigned {
				if strings.Contains(spent, kid) && now.Before(at.Add(ttl+time.Minute)) {
					t.Fatalf("key %s was deleted while a token of it was live", kid)
				}
			}
			k := signerAt(ring.open(stored), now)
			if index > 0 && now.Before(created[k.kid].Add(activationDelay)) && len(stored) > 1 {
				t.Fatalf("key %s signed before it was known", k.kid)
			}
			lastSigned[k.kid] = now
			now = now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "pause")) * time.Second)
		}
	})
}
