package mailbox

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const raw = "Date: Sun, 15 Mar 2026 12:00:00 +0000\r\n" +
	"Subject: =?UTF-8?q?Best=C3=A4tigen?=\r\nMessage-ID: <1@coffer.test>\r\n" +
	"Content-Type: multipart/alternative; boundary=x\r\n\r\n" +
	"--x\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" +
	"<b>open</b> https://coffer.test/reset#t=C3=A4\r\n" +
	"--x\r\nContent-Type: text/html\r\n\r\n<p>open</p>\r\n--x--\r\n"

func TestMailbox(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	box := &Mailbox{Log: &logged}
	received := &session{box: box, to: "ada@example.com"}
	require.NoError(t, received.Data(bytes.NewReader([]byte(raw))))
	require.Error(t, received.Data(bytes.NewReader([]byte("no mail"))))
	got, err := box.Await(t.Context(), "ada@example.com", "reset")
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC), got.At.UTC())
	got.At = time.Time{}
	require.Equal(t, Mail{
		To: "ada@example.com", MessageID: "1@coffer.test", Subject: "Bestätigen",
		Text: "<b>open</b> https://coffer.test/reset#tä", HTML: "<p>open</p>",
		Links: []string{"https://coffer.test/reset#tä"},
	}, got)
	require.Contains(t, logged.String(), "https://coffer.test/reset#tä")
}

func TestMailboxKeepsTheLastMails(t *testing.T) {
	t.Parallel()
	var box Mailbox
	for range maxMails + 1 {
		box.add(Mail{})
	}
	require.Len(t, box.Mails(), maxMails)
}
