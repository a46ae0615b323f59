package devstack

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/auth/mailbox"
)

func TestMailPage(t *testing.T) {
	t.Parallel()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	box := &mailbox.Mailbox{}
	go func() { _ = box.Serve(t.Context(), lis) }()
	require.NoError(t, smtp.SendMail(lis.Addr().String(), nil, "no-reply@localhost",
		[]string{"ada@example.com"}, []byte("Subject: <i>Reset\r\n"+
			"Date: "+time.Now().Format(time.RFC1123Z)+"\r\n\r\n<b>http://localhost/reset#t\r\n")))
	show := func(host, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Host = host
		w := httptest.NewRecorder()
		mailPages{box}.ServeHTTP(w, r)
		return w
	}
	w := show("localhost:8025", "/")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), `href="http://localhost/reset#t"`)
	require.Contains(t, w.Body.String(), "&lt;i&gt;Reset")
	require.Equal(t, http.StatusNotFound, show("127.0.0.1:8025", "/favicon.ico").Code)
	// A page of another site, whose name resolves to this machine, cannot read the mails.
	require.Equal(t, http.StatusForbidden, show("evil.example:8025", "/").Code)
}
