package reconciliations

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// Exported is a reconciliation in an export or in the archive of an account.
type Exported struct{ reconciliation }

// Page returns up to limit of an owner's reconciliations with an id below before, newest first.
func Page(
	ctx context.Context, q pg.Querier, owner, before uuid.UUID, limit int,
) ([]Exported, error) {
	return pg.All[Exported](ctx, q, `
		SELECT `+columns+`
		FROM reconciliations r
		WHERE r.owner_id = $1 AND r.id < $2
		ORDER BY r.id DESC
		LIMIT $3`, owner, before, limit)
}

// PageAfter returns up to limit of an owner's reconciliations with an id above after, oldest first.
func PageAfter(
	ctx context.Context, q pg.Querier, owner, after uuid.UUID, limit int,
) ([]Exported, error) {
	return pg.All[Exported](ctx, q, `
		SELECT `+columns+`
		FROM reconciliations r
		WHERE r.owner_id = $1 AND r.id > $2
		ORDER BY r.id
		LIMIT $3`, owner, after, limit)
}

// Message returns the id of e, and e as the API shows it.
func (e Exported) Message() (uuid.UUID, proto.Message, error) { return e.ID, e.Proto(), nil }

// Proto returns e as the API shows it.
func (e Exported) Proto() *ledgerv1.Reconciliation { return e.proto() }
