package sharing

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStatusTransitions(t *testing.T) {
	t.Parallel()
	allowed := map[transition]bool{
		{absent, byOwner, Pending}: true, {rejected, byOwner, Pending}: true,
		{Pending, byMember, Accepted}: true, {Pending, byMember, rejected}: true,
		{Accepted, byMember, rejected}: true,
	}
	same := map[transition]bool{
		{Accepted, byMember, Accepted}: true, {rejected, byMember, rejected}: true,
	}
	all := []Status{absent, Pending, Accepted, rejected}
	for _, from := range all {
		for _, to := range all {
			for _, by := range []actor{byOwner, byMember} {
				changes, permitted := from.to(to, by)
				m := transition{from, by, to}
				require.Equal(t, allowed[m], changes, "%v", m)
				require.Equal(t, allowed[m] || same[m], permitted, "%v", m)
			}
		}
	}
}
