package distribution

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrderRejectsCircles(t *testing.T) {
	t.Parallel()
	_, err := order([]table{
		{Name: "a", References: []string{"b"}}, {Name: "b", References: []string{"a"}},
	})
	require.ErrorContains(t, err, "in a circle")
}
