package response

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteHidesClosedConnections(t *testing.T) {
	t.Parallel()
	closed := httptest.NewRecorder()
	failing := writerFunc{closed, func([]byte) (int, error) { return 0, io.ErrClosedPipe }}
	Write(failing, http.StatusCreated, []byte("answer"))
	require.Equal(t, http.StatusCreated, closed.Code)
	require.Equal(t, "6", closed.Header().Get("Content-Length"))
}

type writerFunc struct {
	http.ResponseWriter

	write func([]byte) (int, error)
}

func (w writerFunc) Write(p []byte) (int, error) { return w.write(p) }
