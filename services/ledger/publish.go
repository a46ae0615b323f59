package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// publish adds an event to the outbox.
func (s *server) publish(ctx context.Context, q pg.Querier, owner uuid.UUID, data proto.Message) error {
	s.nudge()
	return outbox.Add(ctx, q, s.event(ctx, owner, data))
}

func (s *server) event(ctx context.Context, owner uuid.UUID, data proto.Message) outbox.Event {
	return outbox.Event{ID: s.newID(), UserID: owner, Subject: subject(data), Data: data, Traceparent: outbox.Traceparent(ctx)}
}

// subject is the one that events.proto promises for the message.
func subject(data proto.Message) string {
	switch data.(type) {
	case *ledgerv1.TransactionCreated:
		return "ledger.v1.transaction.created"
	case *ledgerv1.TransactionUpdated:
		return "ledger.v1.transaction.updated"
	case *ledgerv1.TransactionDeleted:
		return "ledger.v1.transaction.deleted"
	case *ledgerv1.WalletCreated:
		return "ledger.v1.wallet.created"
	case *ledgerv1.WalletUpdated:
		return "ledger.v1.wallet.updated"
	case *ledgerv1.WalletDeleted:
		return "ledger.v1.wallet.deleted"
	case *ledgerv1.CategoryCreated:
		return "ledger.v1.category.created"
	case *ledgerv1.CategoryUpdated:
		return "ledger.v1.category.updated"
	case *ledgerv1.CategoryDeleted:
		return "ledger.v1.category.deleted"
	}
	return fmt.Sprintf("ledger.v1.unknown.%T", data)
}
