package learning

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

func TestPropose(t *testing.T) {
	t.Parallel()
	food, fun := uuid.UUID{1}, uuid.UUID{2}
	for name, tc := range map[string]struct {
		choices []Choice
		want    []Proposal
	}{
		"none":                    {nil, nil},
		"two choices":             {[]Choice{{"Bakery", food, 2}}, nil},
		"case, width and spaces":  {[]Choice{{"Bakery Sun", food, 2}, {"BAKERY  ＳＵＮ", food, 1}}, []Proposal{{matching.Is, "Bakery Sun", food, 3}}},
		"two of three":            {[]Choice{{"Bakery", food, 4}, {"Bakery", fun, 2}}, []Proposal{{matching.Is, "Bakery", food, 4}}},
		"half":                    {[]Choice{{"Bakery", food, 4}, {"Bakery", fun, 4}}, nil},
		"numbers":                 {[]Choice{{"Cinema Rex 17", fun, 1}, {"CINEMA REX 21", fun, 2}}, []Proposal{{matching.StartsWith, "CINEMA REX", fun, 3}}},
		"numbers inside":          {[]Choice{{"Rewe 3 Rome", food, 2}, {"Rewe 17 Rome", food, 1}}, []Proposal{{matching.StartsWith, "Rewe", food, 3}}},
		"numbers at the start":    {[]Choice{{"3 Rewe", food, 2}, {"17 Rewe", food, 2}}, nil},
		"only numbers":            {[]Choice{{"17", food, 5}}, nil},
		"a prefix of other shops": {[]Choice{{"Pay *1 Shop", food, 2}, {"Pay *2 Shop", food, 2}, {"Pay Cinema", fun, 5}}, []Proposal{{matching.Is, "Pay Cinema", fun, 5}}},
		"most choices first": {
			[]Choice{{"Bakery", food, 3}, {"Cinema", fun, 9}},
			[]Proposal{{matching.Is, "Cinema", fun, 9}, {matching.Is, "Bakery", food, 3}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, Propose(tc.choices))
		})
	}
}
