package ledger

import (
	"context"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/views"
)

// useViews calls every RPC of views.
func (s *isolated) useViews(ctx context.Context) {
	server := &views.Server{Ledger: s.env.Ledger}
	created, err := server.CreateView(ctx, &ledgerv1.CreateViewRequest{
		Name: "Food", Kind: "transactions", Query: "categoryId=" + s.categories[0],
	})
	s.record(created, err)
	id := created.GetView().GetId()
	s.record(server.UpdateView(ctx, &ledgerv1.UpdateViewRequest{Id: id, Name: new("Meals")}))
	s.readViews(ctx)
	s.record(server.DeleteView(ctx, &ledgerv1.DeleteViewRequest{Id: id}))
}

// readViews reads each view alone and with the others.
func (s *isolated) readViews(ctx context.Context) {
	server := &views.Server{Ledger: s.env.Ledger}
	list, err := server.ListViews(ctx, &ledgerv1.ListViewsRequest{})
	s.record(list, err)
	for _, v := range list.GetViews() {
		s.record(server.GetView(ctx, &ledgerv1.GetViewRequest{Id: v.GetId()}))
	}
}
