package transcoding

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDisposition(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.pdf":            `attachment; filename=a.pdf`,
		"two words.pdf":    `attachment; filename="two words.pdf"`,
		"":                 `attachment; filename=file`,
		"../../etc/passwd": `attachment; filename=passwd`,
		"/":                `attachment; filename=file`,
		"a\r\nX: y.pdf":    `attachment; filename="a__X: y.pdf"`,
		"请.pdf":            `attachment; filename=_.pdf; filename*=utf-8''%E8%AF%B7.pdf`,
		`a";filename=b.html`: `attachment; filename="a_;filename=b.html"; ` +
			`filename*=utf-8''a%22%3Bfilename%3Db.html`,
	} {
		require.Equal(t, want, disposition(name), "%q", name)
	}
}
