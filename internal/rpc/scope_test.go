package rpc

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// eachMethod visits the methods of all services.
func eachMethod(visit func(protoreflect.MethodDescriptor)) {
	// The registry contains the packages that the test imports.
	for _, file := range []protoreflect.FileDescriptor{
		authv1.File_coffer_auth_v1_auth_proto, budgetv1.File_coffer_budget_v1_budget_proto,
		ledgerv1.File_coffer_ledger_v1_ledger_proto, ocrv1.File_coffer_ocr_v1_ocr_proto,
	} {
		protoregistry.GlobalFiles.RangeFilesByPackage(file.Package(),
			func(file protoreflect.FileDescriptor) bool {
				for i := range file.Services().Len() {
					methods := file.Services().Get(i).Methods()
					for j := range methods.Len() {
						visit(methods.Get(j))
					}
				}
				return true
			})
	}
}

// admit checks the credentials of a call of a method.
func (s *setup) admit(t *testing.T, method protoreflect.MethodDescriptor, token string) error {
	t.Helper()
	ctx := metadata.NewIncomingContext(t.Context(),
		metadata.Pairs("authorization", "Bearer "+token))
	name := string(method.Parent().FullName()) + "/" + string(method.Name())
	_, err := s.server.admit(ctx, "/"+name)
	return err
}

// TestAdmitScopes calls every method of all services with a token of each scope, and with one of
// all scopes. A method that names no scope rejects all of them.
func TestAdmitScopes(t *testing.T) {
	t.Parallel()
	s := start(t)
	tokens := map[string]string{}
	for _, scope := range caller.Scopes {
		tokens[scope] = s.newToken(t, caller.ScopedAudience, caller.Scope(scope))
	}
	all := s.newToken(t, caller.ScopedAudience, caller.ScopeOf(caller.Scopes))
	opened := map[string]int{}
	eachMethod(func(method protoreflect.MethodDescriptor) {
		options := method.Options()
		if proto.GetExtension(options, restv1.E_Access) != restv1.Access_ACCESS_UNSPECIFIED {
			require.Empty(t, proto.GetExtension(options, restv1.E_Scopes), method.FullName())
			return
		}
		accepted := proto.GetExtension(options, restv1.E_Scopes).([]string)
		require.NoError(t, s.admit(t, method, s.token), "%s with a token of a session",
			method.FullName())
		for scope, token := range tokens {
			err := s.admit(t, method, token)
			if slices.Contains(accepted, scope) {
				require.NoError(t, err, "%s with %s", method.FullName(), scope)
				opened[scope]++
				continue
			}
			require.ErrorIs(t, err, errInsufficientScope, "%s with %s", method.FullName(), scope)
		}
		err := s.admit(t, method, all)
		if len(accepted) == 0 {
			require.ErrorIs(t, err, errInsufficientScope, method.FullName())
			require.Equal(t, "INSUFFICIENT_SCOPE", apierr.From(err).Reason)
			return
		}
		require.NoError(t, err, method.FullName())
	})
	for _, scope := range caller.Scopes {
		require.NotZero(t, opened[scope], "no method accepts %s", scope)
	}
}

// TestAdmitStepUp calls every method that takes users with the token of a session whose user signed
// in too long ago. The methods with the option step_up reject it, and no other method does.
func TestAdmitStepUp(t *testing.T) {
	t.Parallel()
	s := start(t)
	old := s.newTokenAt(t, caller.Audience, "", time.Now().Add(-11*time.Minute))
	var protected []string
	eachMethod(func(method protoreflect.MethodDescriptor) {
		options := method.Options()
		stepUp := proto.GetExtension(options, restv1.E_StepUp).(bool)
		if proto.GetExtension(options, restv1.E_Access) != restv1.Access_ACCESS_UNSPECIFIED {
			require.False(t, stepUp, method.FullName())
			return
		}
		if !stepUp {
			require.NoError(t, s.admit(t, method, old), method.FullName())
			return
		}
		protected = append(protected, string(method.Name()))
		require.ErrorIs(t, s.admit(t, method, old), errReauthenticationRequired,
			method.FullName())
		require.NoError(t, s.admit(t, method, s.token), method.FullName())
	})
	require.ElementsMatch(t, []string{
		"CreateTotp", "ConfirmTotp", "DeleteTotp", "CreateRecoveryCodes", "CreatePersonalToken",
		"DeletePersonalToken", "ExportAccount", "DeleteAccount", "LinkOidc",
		"DeleteOidcIdentity", "CreatePasskeyOptions", "CreatePasskey", "UpdatePasskey",
		"DeletePasskey",
	}, protected, "changes of factors and tokens, and the archive and the deletion of the account")
}

// TestScopesOfMethods requires that methods name known scopes, that no scope opens a method of auth
// or of the membership of budgets and goals that writes, and that the order of an option is that of
// Scopes.
func TestScopesOfMethods(t *testing.T) {
	t.Parallel()
	var closed []string
	eachMethod(func(method protoreflect.MethodDescriptor) {
		accepted := proto.GetExtension(method.Options(), restv1.E_Scopes).([]string)
		at := -1
		for _, scope := range accepted {
			i := slices.Index(caller.Scopes, scope)
			require.Greater(t, i, at, "%s: %v", method.FullName(), accepted)
			at = i
		}
		access := proto.GetExtension(method.Options(), restv1.E_Access)
		if len(accepted) == 0 && access == restv1.Access_ACCESS_UNSPECIFIED &&
			!strings.HasPrefix(string(method.FullName()), "coffer.auth.") {
			closed = append(closed, string(method.Name()))
		}
		require.False(t, len(accepted) > 0 &&
			strings.HasPrefix(string(method.FullName()), "coffer.auth."), method.FullName())
	})
	require.ElementsMatch(t, []string{
		"ShareBudget", "RespondToInvitation", "RemoveMember", "ShareGoal",
		"RespondToGoalInvitation", "RemoveGoalMember", "ResendGoalInvitation",
		"WithdrawGoalInvitation", "UpdateNotifications",
		"UpdateNotification", "DeleteNotification", "UpdateSettings", "ExportAccount",
		"ResendInvitation", "WithdrawInvitation",
	}, closed, "operations for tokens of sessions only")
}
