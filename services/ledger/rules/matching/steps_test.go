package matching

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/text"
)

// expensive is a pattern whose program is near the maximum, and that examines each character with
// all of it.
const expensive = `(?:[^q]?){130}Q0$`

// matching returns a condition with a pattern.
func matching(field, pattern string) Condition {
	return Condition{Field: field, Op: Matches, Values: []string{pattern}}
}

// TestSteps compares the steps that Steps computes with those that Run takes on texts of the
// maximum length.
func TestSteps(t *testing.T) {
	t.Parallel()
	longest := Transaction{
		Payee:       strings.Repeat("ü", 200),
		Description: strings.Repeat("ü", 1000),
		Notes:       strings.Repeat("ü", 4000),
	}
	for _, c := range []struct {
		clean func(field, s string) (string, *apierr.Field)
		s     string
	}{
		{text.Payee, longest.Payee},
		{text.Description, longest.Description},
		{text.Notes, longest.Notes},
	} {
		_, problem := c.clean("text", c.s)
		require.Nil(t, problem)
		_, problem = c.clean("text", c.s+"ü")
		require.NotNil(t, problem, "the maximum length of package text")
	}
	for _, field := range []string{Payee, Description, Notes, Text} {
		conditions := []Condition{matching(field, `^none`)}
		s, err := Compile([]Rule{{Conditions: conditions}})
		require.NoError(t, err)
		s.Limit(MaxSteps)
		_, err = s.Run(t.Context(), longest)
		require.NoError(t, err)
		require.Equal(t, Steps(conditions), MaxSteps-s.left, field)
		require.Positive(t, Steps(conditions))
	}
	require.Zero(t, Steps(all))
}

func TestSetRunLimits(t *testing.T) {
	t.Parallel()
	compiled := func(rules ...Rule) *Set {
		s, err := Compile(rules)
		require.NoError(t, err)
		return s
	}
	long := Transaction{Description: strings.Repeat("a", 1000)}
	bomb := slices.Repeat([]Rule{{
		ID: uuid.New(), Conditions: slices.Repeat([]Condition{matching(Text, expensive)}, 10),
	}}, 500)
	t.Run("the steps on a transaction", func(t *testing.T) {
		t.Parallel()
		_, err := compiled(bomb...).Run(t.Context(), long)
		require.ErrorIs(t, err, ErrSteps)
	})
	t.Run("the steps of all runs", func(t *testing.T) {
		t.Parallel()
		rule := Rule{Conditions: []Condition{matching(Description, expensive)}}
		s := compiled(rule)
		s.Limit(3 * Steps(rule.Conditions))
		for range 3 {
			_, err := s.Run(t.Context(), long)
			require.NoError(t, err)
		}
		_, err := s.Run(t.Context(), long)
		require.ErrorIs(t, err, ErrSteps)
	})
	t.Run("a negated pattern without steps does not match", func(t *testing.T) {
		t.Parallel()
		c := matching(Description, expensive)
		c.Not = true
		s := compiled(Rule{Conditions: []Condition{c}, Actions: []Action{{Skip, ""}}})
		s.Limit(0)
		o, err := s.Run(t.Context(), long)
		require.ErrorIs(t, err, ErrSteps)
		require.Empty(t, o)
	})
	t.Run("the context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := compiled(Rule{Conditions: all}).Run(ctx, bought)
		require.ErrorIs(t, err, context.Canceled)
	})
}
