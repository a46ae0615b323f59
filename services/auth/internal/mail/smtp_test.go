package mail

import (
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	protocol "github.com/wneessen/go-mail/smtp"
)

// scripted starts an SMTP server and returns its address. It answers a command with the given line,
// or else with 250. It closes the connection instead of an empty answer. The answer to a mail is
// that of ".".
func scripted(t *testing.T, greeting string, answers map[string]string) string {
	t.Helper()
	var listen net.ListenConfig
	lis, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	go func() {
		for {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			answer(textproto.NewConn(conn), greeting, answers)
		}
	}()
	return lis.Addr().String()
}

func answer(conn *textproto.Conn, greeting string, answers map[string]string) {
	defer func() { _ = conn.Close() }()
	_ = conn.PrintfLine("%s", greeting)
	inMail := false
	for {
		line, err := conn.ReadLine()
		if err != nil {
			return
		}
		if inMail && line != "." {
			continue
		}
		command, _, _ := strings.Cut(line, " ")
		inMail = command == "DATA"
		text, ok := answers[command]
		if !ok {
			text = "250 OK"
		}
		if text == "" {
			return
		}
		_ = conn.PrintfLine("%s", text)
	}
}

func (e *env) use(t *testing.T, server string) {
	t.Helper()
	var err error
	e.server, err = parseURL("smtp://" + server + "?starttls=off")
	require.NoError(t, err)
}

// TestSendAccepted requires that a mail is not sent again if the session fails after the server has
// accepted the mail.
func TestSendAccepted(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]map[string]string{
		"the connection ends": {"RSET": ""},
		"RSET is rejected":    {"RSET": "421 closing"},
		"QUIT is rejected":    {"QUIT": "421 closing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := setup(t)
			answers["DATA"] = "354 go ahead"
			e.use(t, scripted(t, "220 ready", answers))
			e.queue(t, Mail{To: "ada@example.com"})
			e.RunQueued(t.Context())
			require.Equal(t, "sent 1", e.row(t, "status || ' ' || attempts"), e.logged.String())
		})
	}
	t.Run("but is if the server rejects the mail", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		e.use(t, scripted(t, "220 ready",
			map[string]string{"DATA": "354 go ahead", ".": "451 later"}))
		e.queue(t, Mail{To: "ada@example.com"})
		e.RunQueued(t.Context())
		require.Equal(t, "queued", e.row(t, "status"))
	})
}

func TestReason(t *testing.T) {
	t.Parallel()
	for name, greeting := range map[string]string{
		"a rejected connection": "554 ada@example.com is blocked", "no SMTP": "ada@example.com",
	} {
		t.Run("logs no text of the server for "+name, func(t *testing.T) {
			t.Parallel()
			e := setup(t)
			e.use(t, scripted(t, greeting, nil))
			e.queue(t, Mail{To: "ada@example.com"})
			e.RunQueued(t.Context())
			require.Contains(t, e.logged.String(), "reason=\"the ")
			require.NotContains(t, e.logged.String(), "ada@")
		})
	}
	login := &textproto.Error{Code: 535, Msg: "ada@example.com"}
	require.Equal(t, "the server rejected the connection or the login (535)",
		reason(fmt.Errorf("dial failed: SMTP AUTH failed: %w", login)))
	require.Equal(t, "the response of the server is not valid",
		reason(fmt.Errorf("%w: ada@example.com", protocol.ErrUnexpectedServerResponse)))
}
