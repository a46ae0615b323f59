// Package coffer is a client of Coffer's REST API, generated from its OpenAPI document. Answers other than successes are in
// JSONDefault, whatever their status; amounts are json.Number, which loses no digit.
package coffer

import (
	"context"
	"net/http"
)

// Bearer sends an access token with each request.
func Bearer(token string) ClientOption {
	return WithRequestEditorFn(func(_ context.Context, req *http.Request) error {
		req.Header.Set("Authorization", "Bearer "+token)
		return nil
	})
}
