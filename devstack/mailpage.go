package devstack

import (
	_ "embed"
	"html/template"
	"net"
	"net/http"

	"github.com/coffer-budget/coffer/services/auth/mailbox"
)

//go:embed mailpage.html
var mailPageHTML string

var mailPage = template.Must(template.New("mails").Parse(mailPageHTML))

// mailPages shows the mails of a mailbox.
type mailPages struct{ box *mailbox.Mailbox }

// ServeHTTP answers a request with the page of all mails. It accepts the names of this machine
// only. Otherwise a page of another site whose name resolves to 127.0.0.1 could read the links.
func (p mailPages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host != "localhost" && host != "127.0.0.1" && host != "::1" && host != "[::1]" {
		http.Error(w, "open http://localhost instead", http.StatusForbidden)
		return
	}
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	// An error means that the client has closed the connection.
	_ = mailPage.Execute(w, p.box.Mails())
}
