package mail

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestRender(t *testing.T) {
	t.Parallel()
	e := &env{}
	var err error
	e.Outbox, err = New(Options{
		Config: Config{
			URL: "smtps://user:secret@mail.test", From: "no-reply@coffer.test",
			PublicURL: "https://coffer.test/",
		},
		ServiceKey: "test", Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	for template := range paths {
		for _, language := range []string{"en", "de"} {
			due := &Due{
				ID: uuid.New(), Template: template, Language: language, To: "ada@example.com",
				Params: map[string]string{
					"Name": "<b>Ada</b> at evil.example", "NewEmail": "new@example.com",
					"Budget": "Household www.evil.example", "Time": "2026-03-18 12:00 UTC",
				},
			}
			if language == "de" {
				due.Params["Goal"] = "Trip www.evil.example"
			}
			got, err := e.render(due)
			require.NoError(t, err)
			require.NotContains(t, got.text+got.subject, "<no value>", template)
			require.NotContains(t, got.text+got.html+got.subject, "evil.example")
			require.NotContains(t, got.html, "<b>")
			require.NotContains(t, got.html, "<img")
			require.Contains(t, got.text, "https://coffer.test"+paths[template])
			require.Contains(t, got.html, "https://coffer.test"+paths[template])
			require.Contains(t, got.text, "ada@example.com")
			require.Equal(t, strings.HasSuffix(paths[template], "#"),
				strings.Contains(got.text, e.Token(due.ID)))
		}
	}
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	good := Config{
		URL: "smtp://user:secret@mail.test:2525", From: "Coffer <no-reply@coffer.test>",
		PublicURL: "https://coffer.test/finance",
	}
	require.NoError(t, good.Check())
	require.NoError(t, Config{}.Check())
	require.NoError(t, Config{PublicURL: "http://localhost:8080"}.Check())
	for variable, change := range map[string]func(*Config){
		"SMTP_URL":    func(c *Config) { c.URL = "smtp://user:secret@mail.test?starttls=maybe" },
		"SMTP_URL ":   func(c *Config) { c.URL = "http://user:secret@mail.test" },
		"MAIL_FROM":   func(c *Config) { c.From = "" },
		"PUBLIC_URL":  func(c *Config) { c.PublicURL = "" },
		"PUBLIC_URL ": func(c *Config) { c.PublicURL = "coffer.test" },
	} {
		bad := good
		change(&bad)
		err := bad.Check()
		require.ErrorContains(t, err, strings.TrimSpace(variable))
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for accepted, want := range map[string]string{
		"": "en", "de": "de", "de-AT,de;q=0.9,en;q=0.8": "de", "fr, en;q=0.9, de;q=0.8": "en",
		"fr": "en", ";;,": "en",
	} {
		require.Equal(t, want, Language(accepted), accepted)
	}
}
