package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATotalIsSureOnlyWhereOtherFiguresAgree(t *testing.T) {
	t.Parallel()
	sure := func(texts ...string) bool {
		var readings []Reading
		for _, text := range texts {
			readings = append(readings, Read(recognised(text)))
		}
		return Join(today, readings...).Confidence["total"] >= sureTotal
	}
	const lines, paid, both = "SHOP\nBread 2.50\nMilk 1.20\nTotal 3.70", "SHOP\nTotal 3.70\nCash 5.00\nChange 1.30", "SHOP\nBread 2.50\nMilk 1.20\nTotal 3.70\nCash 5.00\nChange 1.30"
	require.True(t, sure(both), "two sums")
	require.False(t, sure(lines), "one sum")
	require.True(t, sure(lines, lines), "one sum, read twice")
	require.True(t, sure(lines+"\nVisa 3.70"), "one sum, and another place")
	require.True(t, sure(paid, paid))
	require.False(t, sure("SHOP\nTotal 3.70", "SHOP\nTotal 3.70", "SHOP\nTotal 3.70"), "nothing but itself")
	require.False(t, sure("SHOP\nTea 3.70\nSubtotal 3.70\nTotal 3.70\nVisa 3.70\nVisa 3.70"), "one figure may be misread everywhere")
	require.False(t, sure("SHOP\nBread 2.50\nMilk 1.20\nVisa 3.70\n", "SHOP\nBread 2.50\nMilk 1.20\nVisa 3.70"), "nothing is called the total")
	require.GreaterOrEqual(t, Join(today, Read(FromText(lines))).Confidence["total"], sureTotal, "text is not misread")
}

func TestLooksAtOneRowAreOneWitness(t *testing.T) {
	t.Parallel()
	const lines = "SHOP\nBread 2.50\nMilk 1.20\n"
	look := ReadSums(recognised("Total 3.70"))
	require.GreaterOrEqual(t, Join(today, Read(recognised(lines+"Total 3.70")), look, look).Confidence["total"], sureTotal)
	require.Less(t, Join(today, Read(recognised(lines+"Total 3.7")), look, look).Confidence["total"], sureTotal)
}

func TestAPageIsNotReadAgainWhereTheLinesComeToTheTotal(t *testing.T) {
	t.Parallel()
	once := func(text string) Receipt { return Join(today, Read(recognised(text))) }
	settled := once("CORNER SHOP LTD\n12/03/2024 10:15\nBread 2.50\nMilk 1.20\nTotal 3.70")
	require.True(t, settled.Sure(), "%v", settled.Confidence)
	require.Less(t, settled.Confidence["total"], sureTotal, "it is only likely")
	for _, doubtful := range []string{
		"CORNER SHOP LTD\n12/03/2024 10:15\nBread 2.50\nMilk 1.30\nTotal 3.70",
		"CORNER SHOP LTD\nBread 2.50\nMilk 1.20\nTotal 3.70",
		"12/03/2024 10:15\nBread 2.50\nMilk 1.20\nTotal 3.70",
	} {
		require.False(t, once(doubtful).Sure(), doubtful)
	}
}
