package test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLeakSearch finds each kind of leak in a line, and no text that is similar to one.
func TestLeakSearch(t *testing.T) {
	t.Parallel()
	const user = "0199d3a2-1111-7222-8333-444455556666"
	search := newLeakSearch([]string{"ab", "the key"}, map[string]bool{user: true})
	for line, leak := range map[string]string{
		"":                                "",
		"span login a long enough secret": "a long enough secret",
		"eyJ0 eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTk5In0.x": "eyJhbGciOiJFZERTQSJ9." +
			"eyJzdWIiOiIwMTk5In0.",
		"eyJhbGciOiJFZERTQSJ9":                 "",
		"secret=whsec_1":                       "whsec_",
		"cof_0123 cof_01234567":                "cof_01234567",
		"cof_0123456":                          "",
		"Bearer none Bearer abcd.efgh":         "Bearer abcd.efgh",
		"Bearer none":                          "",
		"postgres://coffer:word@localhost":     "postgres://coffer:word@",
		"postgresql://a:b@c":                   "postgresql://a:b@",
		"nats://a:b@c":                         "nats://a:b@",
		"nats://127.0.0.1:4222":                "",
		"the ke the key":                       "the key",
		"event 1 cab":                          "ab",
		"event 1 whsec_1":                      "whsec_",
		"event 1 ann@example.com":              "",
		"event 1 " + user:                      "",
		"span ann+1@example.com, @example.com": "ann+1@example.com",
		"@example.com a@example.net":           "",
		user:                                   user,
		"span x" + user + "y":                  user,
		user[1:]:                               "",
		user[:35]:                              "",
		"0199d3a2-1111-7222-8333-444455556667": "",
	} {
		found := ""
		if at := search.in(line); at != nil {
			found = line[at[0]:at[1]]
		}
		require.Equal(t, leak, found, line)
	}
}
