package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestANameIsTrimmedAndHasOneToAHundredCharacters(t *testing.T) {
	t.Parallel()
	name, problem := Name("name", "  Groceries\n")
	require.Nil(t, problem)
	require.Equal(t, "Groceries", name)
	_, problem = Name("name", strings.Repeat("ü", 100))
	require.Nil(t, problem)
	for _, bad := range []string{"", " \t", strings.Repeat("ü", 101), "a\x00b", "\xff"} {
		_, problem = Name("title", bad)
		require.NotNil(t, problem, "%q", bad)
		require.Equal(t, "title", problem.Name)
	}
}

func TestADescriptionMayBeEmptyAndHasAtMostAThousandCharacters(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", " ", strings.Repeat("ü", 1000)} {
		_, problem := Description("description", good)
		require.Nil(t, problem)
	}
	for _, bad := range []string{strings.Repeat("ü", 1001), "a\x00b", "\xff"} {
		_, problem := Description("description", bad)
		require.NotNil(t, problem, "%q", bad)
	}
}
