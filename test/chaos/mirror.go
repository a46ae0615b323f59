package chaos

import (
	"context"
	"net/http"
	"reflect"
	"time"
)

// mirror holds a user's objects by kind and id, as a device that follows GET /changes stores them.
type mirror struct {
	cursor  string
	objects map[string]map[string]any
}

// mirrored are the kinds of objects in a mirror, with their lists.
var mirrored = []struct{ kind, list, path string }{
	{"wallet", "wallets", "/api/v1/wallet"},
	{"category", "categories", "/api/v1/categories"},
	{"transaction", "transactions", "/api/v1/transaction"},
	{"transfer", "transfers", "/api/v1/transfers"},
}

func newMirror() mirror {
	m := mirror{objects: map[string]map[string]any{"tag": {}}}
	for _, k := range mirrored {
		m.objects[k.kind] = map[string]any{}
	}
	return m
}

// follow applies all changes since the last call. It reports whether none is left.
func (m *mirror) follow(ctx context.Context, u *user) bool {
	for more := true; more; {
		a := u.call(ctx, http.MethodGet, "/api/v1/changes?limit=100&cursor="+m.cursor, nil)
		if a.status != http.StatusOK {
			return false
		}
		for _, d := range a.list("deleted") {
			row := response{body: object{"d": d}}
			delete(m.objects[row.text("d.kind")], row.text("d.id"))
		}
		for _, k := range mirrored {
			for _, o := range a.list("changes." + k.list) {
				m.objects[k.kind][response{body: object{"o": o}}.text("o.id")] = o
			}
		}
		for _, tag := range a.list("changes.tags") {
			row := response{body: object{"t": tag}}
			m.objects["tag"][row.text("t.key")] = row.text("t.name")
		}
		m.cursor, more = a.text("pagination.nextCursor"), a.at("pagination.hasMore") == true
	}
	return true
}

// checkMirror requires that the mirror equals the lists.
func (u *user) checkMirror(ctx context.Context) {
	if !within(ctx, time.Minute, func() bool { return u.mirror.follow(ctx, u) }) {
		u.reportf("%s cannot follow the changes", u.mark)
		return
	}
	for _, k := range mirrored {
		listed := map[string]any{}
		for _, o := range u.list(ctx, k.path, k.list) {
			listed[response{body: object{"o": o}}.text("o.id")] = o
		}
		u.compareMirror(k.kind, listed)
	}
	tags := map[string]any{}
	for _, tag := range u.call(ctx, http.MethodGet, "/api/v1/tags", nil).list("tags") {
		// The names of this test are in lower case, like keys.
		name := response{body: object{"t": tag}}.text("t.name")
		tags[name] = name
	}
	u.compareMirror("tag", tags)
}

// compareMirror compares the objects of a kind.
func (u *user) compareMirror(kind string, listed map[string]any) {
	objects := u.mirror.objects[kind]
	for id, o := range listed {
		if !reflect.DeepEqual(o, objects[id]) {
			u.reportf("the mirror of %s has %s %v, which is listed as %v", u.mark, kind,
				objects[id], o)
		}
	}
	for id := range objects {
		if listed[id] == nil {
			u.reportf("the mirror of %s still has %s %s, which is deleted", u.mark, kind, id)
		}
	}
}
