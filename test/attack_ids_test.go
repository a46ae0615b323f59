package test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// kinds maps the path segment before an id to the kind of the resource.
var kinds = map[string]string{
	"wallet": "wallet", "categories": "category", "transaction": "transaction", "budgets": "budget",
	"members": "member", "notifications": "notification",
	"receipts": "receipt", "sessions": "session", "webhooks": "webhook", "deliveries": "delivery",
	"attachments": "attachment",
	"transfers":   "transfer", "imports": "import", "profiles": "profile", "tags": "tag",
	"rules": "rule", "tokens": "token", "invitations": "invitation",
	"reconciliations": "reconciliation",
	"deletion":        "deletion", "views": "view", "goals": "goal",
	"assignments": "assignment", "passkeys": "passkey",
	"oidc": "provider", "identities": "identity",
}

// params returns the kind of resource for each id in the operation's path.
func (o operation) params(t *testing.T) (kind []string) {
	t.Helper()
	parts := strings.Split(o.path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			require.Contains(t, kinds, parts[i-1], "add the ids in %s to this test", o.path)
			kind = append(kind, kinds[parts[i-1]])
		}
	}
	return kind
}

// at returns the path with its placeholders replaced by ids.
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

// paths returns the operation's path with each combination of the ids of two users, except the one
// with only other's ids. If other is nil, it returns a single path.
func (o operation) paths(ids, other map[string]string) []string {
	paths := []string{""}
	last := ""
	for part := range strings.SplitSeq(strings.TrimPrefix(o.path, "/"), "/") {
		var next []string
		for _, u := range paths {
			if !strings.HasPrefix(part, "{") {
				next = append(next, u+"/"+part)
				continue
			}
			next = append(next, u+"/"+ids[kinds[last]])
			if other != nil {
				next = append(next, u+"/"+other[kinds[last]])
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

// ids tests for insecure direct object references: it puts each of the victim's ids into each
// position for an id, in path, query, body and headers.
func (s *attackRun) ids(t *testing.T) {
	t.Helper()
	s.eachOperation(t, func(operation) bool { return true },
		func(t *testing.T, me *user, operation operation) {
			t.Helper()
			body := s.body(t, operation)
			if places := operation.params(t); len(places) > 0 {
				for _, path := range operation.paths(s.victimIDs, s.attackerIDs) {
					operation.requireRejected(t, s.call(me, operation, path, body), notFound, path)
				}
				for _, id := range s.victimIDs {
					everywhere := slices.Repeat([]string{id}, len(places))
					operation.requireRejected(t,
						s.call(me, operation, operation.at(everywhere...), body),
						[]int{400, 403, 404}, everywhere)
				}
			}
			for field, value := range body {
				if field != "ids" && !strings.HasSuffix(field, "Id") &&
					!strings.HasSuffix(field, "Ids") {
					continue
				}
				rejected := []int{400, 403, 404}
				if field == "ceremonyId" {
					rejected = []int{400, 401} // the responses to an unknown one
				}
				for kind, id := range s.victimIDs {
					attack := object{field: id}
					if _, list := value.([]string); list {
						attack[field] = []string{s.attackerIDs["category"], id}
					}
					operation.requireRejected(t,
						s.call(me, operation, s.path(t, operation), with(body, attack)),
						rejected, field, "=", kind)
				}
			}
			for _, param := range operation.Parameters {
				for kind, id := range s.victimIDs {
					switch param.Value.In {
					case "query":
						a := s.call(me, operation, s.path(t, operation)+"?"+param.Value.Name+"="+id,
							body)
						operation.requireSafe(t, a, param.Value.Name, "=", kind)
					case "header":
						operation.requireSafe(t,
							s.call(me, operation, s.path(t, operation), body, param.Value.Name, id),
							param.Value.Name, "=", kind)
					}
				}
			}
			if body != nil {
				// Fields that no client may set.
				for _, field := range []string{
					"id", "ownerId", "userId", "createdBy", "memberId", "budgetId", "sessionId",
				} {
					theirs := with(body, object{field: s.victimIDs["user"]})
					operation.requireSafe(t, s.call(me, operation, s.path(t, operation), theirs),
						field)
				}
				operation.requireSafe(t,
					s.call(me, operation, s.path(t, operation), with(body, object{
						"role": "owner", "isAdmin": true, "version": -1, "createdAt": "1970-01-01",
					})))
			}
		})
	t.Run("receipts", func(t *testing.T) {
		me := &user{t: t, base: s.stack.URL, token: s.attacker.token}
		for _, field := range []string{"walletId", "categoryId"} {
			for _, id := range s.victimIDs {
				form := map[string]string{
					"walletId": s.attackerIDs["wallet"], "categoryId": s.attackerIDs["category"],
					field: id,
				}
				s.count.Add(1)
				a := me.upload("", []byte(groceries),
					"walletId", form["walletId"], "categoryId", form["categoryId"])
				require.Contains(t, []int{400, 403, 404}, a.status, "%s", a.raw)
				require.NotContains(t, string(a.raw), victimMark)
			}
		}
		// A correction must not book a line in another user's category.
		for _, id := range s.victimIDs {
			corrections, err := json.Marshal(object{"lines": []any{
				object{"description": "All", "amount": json.Number("23.25"), "categoryId": id},
			}})
			require.NoError(t, err)
			s.count.Add(1)
			a := me.upload("", []byte(groceries), "walletId", s.attackerIDs["wallet"],
				"categoryId", s.attackerIDs["category"], "corrections", string(corrections))
			require.Contains(t, []int{400, 404}, a.status, "%s", a.raw)
			a.blames("corrections.lines[0].categoryId")
			require.NotContains(t, string(a.raw), victimMark)
		}
	})
}
