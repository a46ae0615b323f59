// Command identity-provider serves an OpenID Connect provider on this machine, for development and
// for the tests of the console. It prints its URL. Its page asks for the e-mail with which the user
// signs in, and for no password. Coffer uses it with these variables:
//
//	OIDC_PROVIDERS=home OIDC_HOME_ISSUER=<URL> OIDC_HOME_CLIENT_ID=coffer
//	OIDC_HOME_CLIENT_SECRET="provider secret" OIDC_SIGNUP=true
package main

import (
	"context"
	"flag"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/coffer-budget/coffer/services/auth/oidctest"
)

// page asks for the e-mail. The form repeats the parameters of the request.
var page = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<title>Identity provider</title>
<h1>Identity provider</h1>
<form>
{{range $name, $values := .Query}}
<input type="hidden" name="{{$name}}" value="{{index $values 0}}">
{{end}}
<label>E-mail <input name="login_hint" type="email" required autofocus></label>
<button>Sign in</button>
<a href="{{.Cancel}}">Cancel</a>
</form>
`))

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	flag.Parse()
	if err := serve(*addr); err != nil {
		fmt.Fprintln(os.Stderr, "identity-provider:", err)
		os.Exit(1)
	}
}

func serve(addr string) error {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	issuer := "http://" + listener.Addr().String()
	provider := oidctest.New(issuer, time.Now)
	fmt.Println(issuer)
	server := &http.Server{
		ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/authorize" && !r.URL.Query().Has("login_hint") {
				ask(w, r.URL.Query())
				return
			}
			provider.ServeHTTP(w, r)
		}),
	}
	return server.Serve(listener)
}

// ask shows the page for a request of the authorization endpoint.
func ask(w http.ResponseWriter, query url.Values) {
	denied := url.Values{"error": {"access_denied"}, "state": {query.Get("state")}}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// A browser that has left needs no page.
	_ = page.Execute(w, map[string]any{
		"Query": query, "Cancel": query.Get("redirect_uri") + "?" + denied.Encode(),
	})
}
