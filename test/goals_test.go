package test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func aGoal(name, target string) object {
	return object{"name": name, "currency": "EUR", "target": json.Number(target)}
}

// assigns is an assignment of today.
func assigns(wallet, amount string) object {
	return object{
		"walletId": wallet, "amount": json.Number(amount),
		"date": time.Now().UTC().Format(time.DateOnly),
	}
}

// goal creates a goal in EUR and returns its id.
func (u *user) goal(name, target string) string {
	return u.post("/api/v1/goals", aGoal(name, target)).created("GOAL_CREATED").text("goal.id")
}

// assign assigns money to a goal, and returns the id of the assignment.
func (u *user) assign(goal, wallet, amount string) string {
	return u.post("/api/v1/goals/"+goal+"/assignments", assigns(wallet, amount)).
		created("ASSIGNMENT_CREATED").text("assignment.id")
}

// savings creates a goal and assigns money of a wallet to it.
func (u *user) savings(name, wallet string) (goal, assignment string) {
	goal = u.goal(name, "900")
	return goal, u.assign(goal, wallet, "5")
}

// TestGoals saves for a goal from two wallets, takes money back, reaches the goal and archives it.
func TestGoals(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	cash, bank := me.wallet("EUR", "100"), me.wallet("EUR", "20")
	goal := me.goal("Trip", "150")
	path := "/api/v1/goals/" + goal
	me.assign(goal, cash, "100")
	given := me.assign(goal, bank, "30")
	me.assign(goal, bank, "-10")

	saved := me.get(path).ok("GOAL_FETCHED")
	require.Equal(t, json.Number("120.00"), saved.at("goal.progress.saved"))
	require.Equal(t, json.Number("30.00"), saved.at("goal.progress.remaining"))
	require.Equal(t, json.Number("80"), saved.at("goal.progress.percentage"))
	require.Equal(t, json.Number("120.00"), saved.at("goal.progress.averagePerMonth"))
	listed := me.get("/api/v1/goals").ok("GOALS_FETCHED")
	require.Equal(t, []any{saved.at("goal")}, listed.list("goals"))
	wallets := map[string]object{}
	for _, w := range listed.list("wallets") {
		wallets[w.(object)["walletId"].(string)] = w.(object)
	}
	require.Equal(t, object{
		"walletId": bank, "currency": "EUR", "assigned": json.Number("20.00"),
		"balance": json.Number("20.00"), "free": json.Number("0.00"),
	}, wallets[bank])
	// The bank decides the balance. The list warns.
	me.spend(cash, me.category("Food"), "40")
	free := me.get("/api/v1/goals").list("wallets")
	require.Contains(t, free, object{
		"walletId": cash, "currency": "EUR", "assigned": json.Number("100.00"),
		"balance": json.Number("60.00"), "free": json.Number("-40.00"),
	})

	me.post(path+"/assignments", assigns(bank, "-21")).fails(409, "ASSIGNMENT_EXCEEDS_GOAL")
	me.del(path+"/assignments/"+given).fails(409, "ASSIGNMENT_EXCEEDS_GOAL")
	me.post(path+"/assignments", assigns(stranger.wallet("EUR", "0"), "1")).
		fails(404, "WALLET_NOT_FOUND")
	me.post(path+"/assignments", assigns("x", "1")).fails(400, "WALLET_NOT_FOUND")
	me.post(path+"/assignments", assigns(bank, "0")).invalid("amount")
	stranger.post(path+"/assignments", assigns(bank, "1")).fails(404, "GOAL_NOT_FOUND")
	me.post("/api/v1/goals/x/assignments", assigns(bank, "1")).fails(400, "INVALID_GOAL_ID")

	last := me.assign(goal, bank, "30")
	reached := me.notified("budget.v1.goal.reached", 1)[0]["data"].(object)
	require.Equal(t, goal, reached["goal"].(object)["id"])
	require.Equal(t, json.Number("150.00"), reached["saved"])
	require.Equal(t, "reached", me.get(path).text("goal.progress.state"))
	require.Len(t, me.get(path+"/assignments").ok("ASSIGNMENTS_FETCHED").list("assignments"), 4)
	me.del(path + "/assignments/" + last).ok("ASSIGNMENT_DELETED")
	me.del(path+"/assignments/"+last).fails(404, "ASSIGNMENT_NOT_FOUND")
	me.del(path+"/assignments/x").fails(400, "ASSIGNMENT_NOT_FOUND")
	stranger.del(path+"/assignments/"+given).fails(404, "GOAL_NOT_FOUND")
	me.del("/api/v1/goals/x/assignments/"+given).fails(400, "INVALID_GOAL_ID")

	me.patch(path, object{"archived": true}).ok("GOAL_UPDATED")
	require.Empty(t, me.get("/api/v1/goals?archived=false").list("goals"))
	require.Empty(t, me.get("/api/v1/goals").list("wallets"))
	me.del(path).ok("GOAL_DELETED")
}

// TestGoalErrors requires the errors of requests for goals that are unknown, malformed or invalid.
func TestGoalErrors(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	path := "/api/v1/goals/" + stranger.goal("Trip", "900")
	me.get(path).fails(404, "GOAL_NOT_FOUND")
	me.get(path+"/assignments").fails(404, "GOAL_NOT_FOUND")
	me.patch(path, object{"name": "Mine"}).fails(404, "GOAL_NOT_FOUND")
	me.del(path).fails(404, "GOAL_NOT_FOUND")
	me.get("/api/v1/goals/x").fails(400, "INVALID_GOAL_ID")
	me.get("/api/v1/goals/x/assignments").fails(400, "INVALID_GOAL_ID")
	me.patch("/api/v1/goals/x", object{"name": "A"}).fails(400, "INVALID_GOAL_ID")
	me.del("/api/v1/goals/x").fails(400, "INVALID_GOAL_ID")
	stranger.patch(path, object{}).fails(400, "EMPTY_UPDATE")
	me.post("/api/v1/goals", with(aGoal("A", "1"), object{"currency": "XXX"})).
		fails(400, "UNSUPPORTED_CURRENCY")
	me.post("/api/v1/goals", aGoal("A", "0")).invalid("target")
}
