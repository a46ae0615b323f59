package budget

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// withoutStatements are the RPCs with the scope read that use no database, with the reason.
var withoutStatements = map[protoreflect.Name]string{
	"StreamEvents": "it reads the stream of events: stream.go of package notification",
}

// TestReadScopeNeverWrites calls each RPC that accepts the scope read, on connections whose
// transactions are read-only. PostgreSQL rejects each statement that writes or locks.
func TestReadScopeNeverWrites(t *testing.T) {
	t.Parallel()
	writer := setup(t)
	owner, guest := writer.user(t, "Owner"), writer.user(t, "Guest")
	budget := writer.budget(t, owner).GetId()
	writer.join(t, owner, budget, guest, "viewer")
	hook := writer.webhook(t, owner)
	_, err := writer.TestWebhook(owner.Ctx, &budgetv1.TestWebhookRequest{Id: hook})
	require.NoError(t, err)
	goal := writer.goal(t, owner).GetId()
	writer.joinGoal(t, owner, goal, guest)
	pool, denied := pgtest.ReadOnly(t, writer.db)
	reader := setupOn(t, pool)
	reader.auth.users = writer.auth.users

	var answered []protoreflect.FullName
	record := func(resp proto.Message, err error) {
		require.NoError(t, err)
		answered = append(answered, resp.ProtoReflect().Descriptor().FullName())
	}
	ctx := owner.Ctx
	record(reader.ListBudgets(ctx, &budgetv1.ListBudgetsRequest{}))
	record(reader.GetBudget(ctx, &budgetv1.GetBudgetRequest{Id: budget}))
	record(reader.ListMembers(ctx, &budgetv1.ListMembersRequest{BudgetId: budget}))
	record(reader.GetMember(ctx,
		&budgetv1.GetMemberRequest{BudgetId: budget, MemberId: guest.ID.String()}))
	record(reader.ListLimits(ctx, &budgetv1.ListLimitsRequest{BudgetId: budget}))
	record(reader.ListInvitations(guest.Ctx, &budgetv1.ListInvitationsRequest{}))
	record(reader.ListGoals(ctx, &budgetv1.ListGoalsRequest{}))
	record(reader.GetGoal(ctx, &budgetv1.GetGoalRequest{Id: goal}))
	record(reader.ListAssignments(ctx, &budgetv1.ListAssignmentsRequest{GoalId: goal}))
	record(reader.ListGoalMembers(ctx, &budgetv1.ListGoalMembersRequest{GoalId: goal}))
	record(reader.GetGoalMember(ctx,
		&budgetv1.GetGoalMemberRequest{GoalId: goal, MemberId: guest.ID.String()}))
	record(reader.ListGoalInvitations(guest.Ctx, &budgetv1.ListGoalInvitationsRequest{}))
	record(reader.ListNotifications(ctx, &budgetv1.ListNotificationsRequest{}))
	record(reader.ListWebhooks(ctx, &budgetv1.ListWebhooksRequest{}))
	record(reader.GetWebhook(ctx, &budgetv1.GetWebhookRequest{Id: hook}))
	record(reader.ListWebhookDeliveries(ctx,
		&budgetv1.ListWebhookDeliveriesRequest{WebhookId: hook}))
	require.Empty(t, denied(), "the statements write")

	protoregistry.GlobalFiles.RangeFilesByPackage("coffer.budget.v1",
		func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				methods := file.Services().Get(i).Methods()
				for j := range methods.Len() {
					method := methods.Get(j)
					accepted := proto.GetExtension(method.Options(), restv1.E_Scopes).([]string)
					if slices.Contains(accepted, "read") && withoutStatements[method.Name()] == "" {
						require.Contains(t, answered, method.Output().FullName())
					}
				}
			}
			return true
		})

	// The connections reject what a write would be.
	_, err = reader.DeleteWebhook(ctx, &budgetv1.DeleteWebhookRequest{Id: hook})
	require.Error(t, err)
	require.NotEmpty(t, denied())
}
