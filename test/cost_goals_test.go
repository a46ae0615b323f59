package test

import "github.com/google/uuid"

// resentGoalInvitation sends an invitation to a goal by mail again.
func resentGoalInvitation(c *costRun) []worstRequest {
	path := c.u.inviteToGoal(c.ids["goal"], uuid.NewString()+"@example.com")
	return one("an e-mail", func() response { return c.u.post(path+"/resend", object{}) })
}

// withdrawnGoalInvitation withdraws an invitation to a goal by mail.
func withdrawnGoalInvitation(c *costRun) []worstRequest {
	path := c.u.inviteToGoal(c.u.goal("Withdrawn", "9"), uuid.NewString()+"@example.com")
	return one("an e-mail", func() response { return c.u.del(path) })
}

// sharedGoal shares a goal.
func sharedGoal(c *costRun) []worstRequest {
	friend := newUserAt(c.u.t, c.stack.URL, "Friend")
	path := "/api/v1/goals/" + c.ids["goal"] + "/share"
	return one("a member", func() response {
		return c.u.post(path,
			object{"email": friend.email, "role": "viewer", "sharePercent": 1})
	})
}

// changedGoalMember changes a member of a goal.
func changedGoalMember(c *costRun) []worstRequest {
	path := "/api/v1/goals/" + c.ids["goal"] + "/members/" + c.ids["member"]
	return one("role and share", func() response {
		return c.u.patch(path, object{"role": "viewer", "sharePercent": 1})
	})
}

// removedGoalMember removes a member of a goal.
func removedGoalMember(c *costRun) []worstRequest {
	friend := newUserAt(c.u.t, c.stack.URL, "Friend")
	path := c.u.shareGoal(c.u.goal("Shared", "9"), friend, "editor")
	return one("a member", func() response { return c.u.del(path) })
}
