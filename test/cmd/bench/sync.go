package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

func (b *bench) sync(ctx context.Context) error {
	target, err := b.stack(ctx, "large")
	if err != nil {
		return err
	}
	// 100 000 transactions, and 10 000 with -short.
	transactions := b.rows / 50
	followers, err := b.fill(ctx, target, transactions, transactions)
	if err != nil {
		return err
	}
	created, cursor := followers[0], ""
	_, err = b.compare(ctx, comparison{
		what: fmt.Sprintf("full copy of %d transactions in pages of 1000", transactions), unit: "s",
		atMost: 15,
		ours: func(ctx context.Context) (float64, error) {
			start := time.Now()
			var copied int
			if cursor, copied, err = created.copies(ctx); err == nil && copied != transactions {
				err = fmt.Errorf("the copy has %d transactions instead of %d", copied, transactions)
			}
			return time.Since(start).Seconds(), err
		},
	})
	if err != nil {
		return err
	}
	_, err = b.compare(ctx, comparison{
		what: "changes without news, one client", unit: "ms", atMost: 3,
		ours: func(ctx context.Context) (float64, error) {
			a, err := b.wrk(ctx, target, load{clients: 1, requests: []request{
				created.gets("/api/v1/changes?cursor=" + url.QueryEscape(cursor)),
			}})
			return a.median, err
		},
	})
	return err
}

// copies reads all changes of the user. It returns the last cursor and the number of transactions.
func (u user) copies(ctx context.Context) (cursor string, transactions int, err error) {
	for more := true; more; {
		var page struct {
			Changes    struct{ Transactions []struct{ ID string } }
			Pagination struct {
				NextCursor string
				HasMore    bool
			}
		}
		if err := u.call(ctx, http.MethodGet,
			"/api/v1/changes?limit=1000&cursor="+url.QueryEscape(cursor), nil, &page); err != nil {
			return "", 0, err
		}
		transactions += len(page.Changes.Transactions)
		cursor, more = page.Pagination.NextCursor, page.Pagination.HasMore
	}
	return cursor, transactions, nil
}
