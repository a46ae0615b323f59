package admission

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClientAddressTrustsOnlyConfiguredProxies(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		hops      int
		forwarded []string
		want      string
	}{
		{0, []string{"1.1.1.1"}, "9.9.9.9"},
		{1, nil, "9.9.9.9"},
		{1, []string{"6.6.6.6, 1.1.1.1"}, "1.1.1.1"},
		{1, []string{"6.6.6.6", "2001:db8::1"}, "2001:db8::1"},
		{2, []string{"6.6.6.6, 1.1.1.1, 10.0.0.1"}, "1.1.1.1"},
		{3, []string{"1.1.1.1"}, "1.1.1.1"},
		{1, []string{"1.1.1.1, nonsense"}, "9.9.9.9"},
	} {
		r := &http.Request{
			RemoteAddr: "9.9.9.9:1234", Header: http.Header{"X-Forwarded-For": tc.forwarded},
		}
		require.Equal(t, tc.want, clientAddress(r, tc.hops), tc)
	}
}
