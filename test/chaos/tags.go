package chaos

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// deletedTag is the target of a deleted tag in the model.
const deletedTag = "deleted"

// retireTag renames a tag, merges it into another one, or deletes it, while the sessions use it. A
// tag that was retired may come back with a transaction that names it; same accepts that. Two tags
// remain.
func (u *user) retireTag(ctx context.Context, random *rand.Rand) {
	fresh := strings.TrimSuffix(u.nextMark(), ";")
	u.lock.Lock()
	tag := u.tags[random.IntN(len(u.tags))]
	u.tags = append(slices.DeleteFunc(u.tags, func(o string) bool { return o == tag }), fresh)
	method, path := http.MethodPatch, "/api/v1/tags/"+url.PathEscape(tag)
	var body any = object{"name": fresh}
	u.merged[tag] = fresh
	switch random.IntN(3) {
	case 0:
		// The other tag may be unused; the merge then renames this one.
		u.merged[tag] = u.tags[0]
		path, body = path+"?merge=true", object{"name": u.tags[0]}
	case 1:
		u.merged[tag] = deletedTag
		method, body = http.MethodDelete, nil
	}
	u.lock.Unlock()
	u.retry(ctx, func(ctx context.Context) bool {
		a, result := u.write(ctx, method, path, body)
		// The tag is missing before its first use and after an earlier attempt. A session that
		// still uses the old name lets both exist.
		if result == rejected && a.status != http.StatusNotFound &&
			a.text("code") != "TAG_ALREADY_EXISTS" {
			u.reportf("%s %s was rejected: %s", method, path, a.raw)
		}
		return result != unknown
	})
}
