package accounts

import (
	"encoding/json"
	"math"

	"github.com/google/uuid"
)

// unranked is the rank of wallets without a position, in the statement and the index of the list,
// too.
const unranked = math.MaxInt32

// walletPlace is the place of a wallet in the list: by position, then wallets without one, and
// newest first among equals.
type walletPlace struct {
	Rank int32
	ID   uuid.UUID
}

func (w wallet) place() walletPlace {
	if w.Position == nil {
		return walletPlace{unranked, w.ID}
	}
	return walletPlace{*w.Position, w.ID}
}

// MarshalJSON encodes a place without a position as the id alone. That is the form of releases
// without positions, so that cursors remain valid on both releases during an upgrade.
func (p walletPlace) MarshalJSON() ([]byte, error) {
	if p.Rank == unranked {
		return json.Marshal(p.ID)
	}
	type fields walletPlace
	return json.Marshal(fields(p))
}

// UnmarshalJSON decodes both forms of MarshalJSON.
func (p *walletPlace) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		p.Rank = unranked
		return json.Unmarshal(b, &p.ID)
	}
	type fields walletPlace
	return json.Unmarshal(b, (*fields)(p))
}
