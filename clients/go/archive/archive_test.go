package archive

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// written returns an archive with a manifest that change may change.
func written(t *testing.T, change func(*Manifest)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	manifest := Manifest{Schema: Schema}
	for path, content := range map[string]string{
		"wallets.jsonl": "{\"id\":1}\n{\"id\":2}\n", "attachments/1-a.json": "{\n}\n",
	} {
		f, err := w.Create(path)
		require.NoError(t, err)
		_, err = f.Write([]byte(content))
		require.NoError(t, err)
		sum := sha256.Sum256([]byte(content))
		file := File{Path: path, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
		if path == "wallets.jsonl" {
			file.Rows = 2
		}
		manifest.Files = append(manifest.Files, file)
	}
	change(&manifest)
	f, err := w.Create(manifestPath)
	require.NoError(t, err)
	require.NoError(t, json.NewEncoder(f).Encode(manifest))
	require.NoError(t, w.Close())
	return b.Bytes()
}

func open(b []byte) (*Archive, error) { return Open(bytes.NewReader(b), int64(len(b))) }

func TestOpen(t *testing.T) {
	t.Parallel()
	b := written(t, func(*Manifest) {})
	a, err := open(b)
	require.NoError(t, err)
	var rows []string
	require.NoError(t, a.Rows("wallets.jsonl", func(row json.RawMessage) error {
		rows = append(rows, string(row))
		return nil
	}))
	require.Equal(t, []string{"{\"id\":1}\n", "{\"id\":2}\n"}, rows)
	require.Error(t, a.Rows("missing.jsonl", nil))
	for end := range b {
		_, err := open(b[:end])
		require.ErrorIs(t, err, ErrIncomplete, "cut at %d", end)
	}
}

// TestOpenChanged requires that each part of the manifest is compared.
func TestOpenChanged(t *testing.T) {
	t.Parallel()
	rows := func(m *Manifest) *File {
		if m.Files[0].Path == "wallets.jsonl" {
			return &m.Files[0]
		}
		return &m.Files[1]
	}
	for name, change := range map[string]func(*Manifest){
		"path":    func(m *Manifest) { rows(m).Path = "other.jsonl" },
		"rows":    func(m *Manifest) { rows(m).Rows++ },
		"bytes":   func(m *Manifest) { rows(m).Bytes-- },
		"sha256":  func(m *Manifest) { rows(m).SHA256 = hex.EncodeToString(make([]byte, 32)) },
		"missing": func(m *Manifest) { m.Files = m.Files[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(written(t, change))
			require.ErrorIs(t, err, ErrChanged)
		})
	}
	_, err := open(written(t, func(m *Manifest) { m.Schema++ }))
	require.ErrorIs(t, err, ErrSchema)
}
