package test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// kinds of things by the part of a path that stands before their id.
var kinds = map[string]string{
	"wallet": "wallet", "categories": "category", "transaction": "transaction", "budgets": "budget", "members": "member", "notifications": "notification",
	"receipts": "receipt", "sessions": "session", "webhooks": "webhook", "deliveries": "delivery",
}

// params are the places of the ids in an operation's path, and the kind of thing that belongs there.
func (o operation) params(t *testing.T) (kind []string) {
	t.Helper()
	parts := strings.Split(o.path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			require.Contains(t, kinds, parts[i-1], "%s has ids of a kind that this test does not know", o.path)
			kind = append(kind, kinds[parts[i-1]])
		}
	}
	return kind
}

// at is the path with ids in the places.
func (o operation) at(ids ...string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(o.path, "/"), "/") {
		if strings.HasPrefix(part, "{") {
			part, ids = ids[0], ids[1:]
		}
		b.WriteString("/" + part)
	}
	return b.String()
}

// paths are the operation's with each combination of two persons' ids, but for that with the other's alone; without
// another there is one.
func (o operation) paths(ids, other map[string]string) []string {
	paths := []string{""}
	last := ""
	for part := range strings.SplitSeq(strings.TrimPrefix(o.path, "/"), "/") {
		var next []string
		for _, p := range paths {
			if !strings.HasPrefix(part, "{") {
				next = append(next, p+"/"+part)
				continue
			}
			next = append(next, p+"/"+ids[kinds[last]])
			if other != nil {
				next = append(next, p+"/"+other[kinds[last]])
			}
		}
		paths, last = next, part
	}
	if other != nil {
		paths = paths[:len(paths)-1]
	}
	return paths
}

var notFound = []int{http.StatusForbidden, http.StatusNotFound}

// ids is the IDOR matrix: each place for an id, in path, query, body and headers, with each of the victim's.
func (s *siege) ids(t *testing.T) {
	t.Helper()
	s.eachOperation(t, func(operation) bool { return true }, func(t *testing.T, p *person, o operation) {
		t.Helper()
		body := s.body(t, o)
		if places := o.params(t); len(places) > 0 {
			for _, path := range o.paths(s.theirs, s.own) {
				o.refused(t, s.call(p, o, path, body), notFound, path)
			}
			for _, id := range s.theirs {
				everywhere := slices.Repeat([]string{id}, len(places))
				o.refused(t, s.call(p, o, o.at(everywhere...), body), []int{400, 403, 404}, everywhere)
			}
		}
		for field, value := range body {
			if !strings.HasSuffix(field, "Id") && !strings.HasSuffix(field, "Ids") {
				continue
			}
			for kind, id := range s.theirs {
				attack := object{field: id}
				if _, list := value.([]string); list {
					attack[field] = []string{s.own["category"], id}
				}
				o.refused(t, s.call(p, o, s.path(t, o), with(body, attack)), []int{400, 403, 404}, field, "=", kind)
			}
		}
		for _, param := range o.Parameters {
			for kind, id := range s.theirs {
				switch param.Value.In {
				case "query":
					o.survived(t, s.call(p, o, s.path(t, o)+"?"+param.Value.Name+"="+id, body), param.Value.Name, "=", kind)
				case "header":
					o.survived(t, s.call(p, o, s.path(t, o), body, param.Value.Name, id), param.Value.Name, "=", kind)
				}
			}
		}
		if body != nil {
			// What nobody may set by asking for it.
			for _, field := range []string{"id", "ownerId", "userId", "createdBy", "memberId", "budgetId", "sessionId"} {
				o.survived(t, s.call(p, o, s.path(t, o), with(body, object{field: s.theirs["user"]})), field)
			}
			o.survived(t, s.call(p, o, s.path(t, o), with(body, object{"role": "owner", "isAdmin": true, "version": -1, "createdAt": "1970-01-01"})))
		}
	})
	t.Run("receipts", func(t *testing.T) {
		p := &person{t: t, base: s.stack.URL, token: s.attacker.token}
		for _, field := range []string{"walletId", "categoryId"} {
			for _, id := range s.theirs {
				form := map[string]string{"walletId": s.own["wallet"], "categoryId": s.own["category"], field: id}
				s.count.Add(1)
				a := p.upload("", []byte(groceries), "walletId", form["walletId"], "categoryId", form["categoryId"])
				require.Contains(t, []int{400, 403, 404}, a.status, "%s", a.raw)
				require.NotContains(t, string(a.raw), marked)
			}
		}
	})
}
