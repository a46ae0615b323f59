package test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// texts are strings that parsers, databases and terminals often mishandle.
var texts = []string{
	"", " ", "\x00", "a\x00b", "\xff\xfe", "\u202e\u0000", "\ufeff", "\U0010ffff", "' OR '1'='1",
	"'; DROP TABLE transactions; --", `" OR ""="`, `\`, "%", "_",
	"$1", "${jndi:ldap://example.com/a}", "{{7*7}}", "<script>alert(1)</script>",
	"a\r\nInjected: yes\r\n\r\n", "../../../../etc/passwd", "|/bin/id", "=cmd()",
	"null", "true", "NaN", "1e999", "-1", "65536", "2147483647", "-2147483648",
	"9223372036854775808", "0x10", "00000000-0000-0000-0000-000000000000",
	strings.Repeat("x", 100_000),
}

// values are unexpected or invalid JSON values, written by hand because Go's encoder produces only
// valid JSON.
var values = []string{
	`null`, `true`, `0`, `-1`, `1e400`, `-1e400`, `1e-400`, `0.1e1`, `9223372036854775807`,
	`9223372036854775808`, `-9223372036854775809`, `123456789012345678901234567890.12`,
	`[]`, `{}`, `[[]]`, `[null]`, `[1,"a",{}]`, `{"a":{"b":[]}}`, `"\ud800"`, `"\u0000"`,
	`"a\u0000b"`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	`[` + strings.Repeat(`"a",`, 20_000) + `"a"]`, "\"\x01\"", "\"\xff\"", `1 `, `.5`, `1.`, `+1`,
	`NaN`, `Infinity`, `'a'`, `undefined`,
}

// values puts each text and value into each field, parameter and position for an id.
func (s *attackRun) values(t *testing.T) {
	t.Helper()
	s.eachOperation(t, func(operation) bool { return true },
		func(t *testing.T, me *user, operation operation) {
			t.Helper()
			body := s.body(t, operation)
			if operation.OperationID == "register" {
				// Hashing a valid one would take a tenth of a second each time.
				body["password"] = "short"
			}
			for field := range body {
				for _, value := range operation.some(values) {
					operation.requireSafe(t,
						s.send(t, me, operation, s.path(t, operation), body, field, value), field,
						"=", value[:min(40, len(value))])
				}
				for _, text := range operation.some(texts) {
					value, err := json.Marshal(text)
					require.NoError(t, err)
					a := s.send(t, me, operation, s.path(t, operation), body, field, string(value))
					operation.requireSafe(t, a, field, "=", string(value[:min(40, len(value))]))
					if strings.Contains(text, "\x00") {
						require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", field, a.raw)
					}
				}
				// A duplicate field, because parsers differ in which of the two they use.
				text, err := json.Marshal(body[field])
				require.NoError(t, err)
				pair := fmt.Sprintf("%q:%s", field, text)
				operation.requireSafe(t, s.call(me, operation, s.path(t, operation),
					"{"+pair+","+pair+"}"), field, " twice")
			}
			for _, param := range operation.Parameters {
				for _, text := range texts {
					switch param.Value.In {
					case "query":
						if len(text) > 10_000 {
							text = text[:10_000]
						}
						path := s.path(t, operation) + "?" + param.Value.Name + "=" +
							url.QueryEscape(text)
						a := s.call(me, operation, path, body)
						operation.requireSafe(t, a, param.Value.Name, "=",
							text[:min(40, len(text))])
					case "path":
						ids := make([]string, len(operation.params(t)))
						for i := range ids {
							ids[i] = url.PathEscape(text[:min(300, len(text))])
						}
						operation.requireRejected(t,
							s.call(me, operation, operation.at(ids...), body),
							[]int{400, 403, 404, 405}, param.Value.Name, "=", ids[0])
					case "header":
						if strings.ContainsAny(text, "\x00\r\n") || len(text) > 10_000 {
							continue // Go's client cannot send it; wire does.
						}
						operation.requireSafe(t, s.call(me, operation, s.path(t, operation), body,
							param.Value.Name, text),
							param.Value.Name, "=", text)
					}
				}
			}
		})
}

// some returns all values, but only every fifth for operations that hash a password, which takes a
// tenth of a second.
func (o operation) some(all []string) []string {
	if o.OperationID != "login" && o.OperationID != "changePassword" {
		return all
	}
	var few []string
	for i := 0; i < len(all); i += 5 {
		few = append(few, all[i])
	}
	return few
}

// send sends a body with one field replaced by raw JSON.
func (s *attackRun) send(
	t *testing.T, me *user, operation operation, path string, body object, field, value string,
) response {
	t.Helper()
	rest := with(body, nil)
	delete(rest, field)
	text, err := json.Marshal(rest)
	require.NoError(t, err)
	if len(rest) == 0 {
		return s.call(me, operation, path, `{"`+field+`":`+value+`}`)
	}
	return s.call(me, operation, path, `{"`+field+`":`+value+`,`+string(text[1:]))
}

// wire sends requests with wrong methods, headers, media types and encodings.
func (s *attackRun) wire(t *testing.T) {
	t.Helper()
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	_, err := io.Copy(w, io.LimitReader(endless{}, 50<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	s.eachOperation(t, func(operation) bool { return true },
		func(t *testing.T, me *user, operation operation) {
			t.Helper()
			body := s.body(t, operation)
			for _, method := range []string{http.MethodPut, "TRACE", "CONNECTED", "PROPFIND"} {
				other := operation
				other.method = method
				if operation.OperationID == "streamEvents" {
					continue
				}
				other.requireRejected(t, s.call(me, other, s.path(t, operation), nil),
					[]int{http.StatusMethodNotAllowed}, method)
			}
			for _, headers := range [][]string{
				{"X-HTTP-Method-Override", http.MethodDelete},
				{"X-Original-URL", "/api/v1/auth/me"},
				{"X-Request-Id", strings.Repeat("x", 4000)},
				{"Accept", "application/xml"},
				{"Accept-Encoding", "gzip;q=0, *;q=0"},
				{"Range", "bytes=0-1,1-2,2-3"},
				{"TE", "trailers"},
				{"Traceparent", "00-zz-zz-zz"},
				{"Origin", "https://example.com"},
			} {
				a := s.call(me, operation, s.path(t, operation), body, headers...)
				operation.requireSafe(t, a, headers[0])
				require.Empty(t, a.header.Get("Access-Control-Allow-Origin"), headers[0])
			}
			if !operation.hasBody() {
				a := s.call(me, operation, s.path(t, operation), bomb.Bytes(), "Content-Encoding",
					"gzip")
				operation.requireSafe(t, a, "an unexpected body")
				return
			}
			for _, media := range []string{
				"", "text/xml", "application/x-www-form-urlencoded",
				"multipart/form-data; boundary=x", "application/json; charset=utf-16",
				"application/jsonx", "*/*",
			} {
				operation.requireSafe(t,
					s.call(me, operation, s.path(t, operation), body, "Content-Type", media), media)
			}
			if operation.OperationID == "logout" {
				// The preceding requests may have ended the session.
				me = newUserAt(t, s.stack.URL, "Mine")
			}
			a := s.call(me, operation, s.path(t, operation), bomb.Bytes(), "Content-Encoding",
				"gzip")
			operation.requireRejected(t, a, []int{415}, "a compressed body of 50 MB")
			operation.requireRejected(t,
				s.call(me, operation, s.path(t, operation), "\xef\xbb\xbf{}"), []int{400},
				"a byte order mark")
		})
	t.Run("raw", s.raw)
}

// raw sends malformed HTTP, which Go's client does not send.
func (s *attackRun) raw(t *testing.T) {
	t.Helper()
	addr := strings.TrimPrefix(s.stack.URL, "http://")
	auth := "Authorization: Bearer " + s.attacker.token + "\r\n"
	for what, request := range map[string]string{
		"a NUL in a header": "GET /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX-Request-Id: " +
			"a\x00b\r\n\r\n",
		"a bare line feed": "GET /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX-Request-Id: " +
			"a\nInjected: yes\r\n\r\n",
		"a folded header": "GET /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\r\n " +
			"Injected: yes\r\n\r\n",
		"two lengths": "POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nContent-Length: " +
			"2\r\nContent-Length: 5\r\n\r\n{}",
		"a length and chunks": "POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\n" + auth +
			"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled " +
			"HTTP/1.1\r\nHost: x\r\n\r\n",
		"a negative length": "POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nContent-Length: " +
			"-1\r\n\r\n{}",
		"an unknown encoding": "POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " +
			"xchunked\r\n\r\n0\r\n\r\n",
		"an invalid chunk": "POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\n" + auth +
			"Content-Type: application/json\r\nTransfer-Encoding: " +
			"chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n",
		"no host":               "GET /api/v1/wallet HTTP/1.1\r\n\r\n",
		"two hosts":             "GET /api/v1/wallet HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"another version":       "GET /api/v1/wallet HTTP/9.9\r\nHost: x\r\n\r\n",
		"HTTP/2 from the start": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"a line of 100 KB": "GET /api/v1/wallet?" + strings.Repeat("x", 100_000) +
			" HTTP/1.1\r\nHost: x\r\n\r\n",
		"headers of 100 KB": "GET /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX: " +
			strings.Repeat("x", 100_000) + "\r\n\r\n",
		"an absolute address": "GET http://169.254.169.254/latest/meta-data " +
			"HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n",
		"a path with a space":      "GET /api/v1/wallet /x HTTP/1.1\r\nHost: x\r\n\r\n",
		"a path with a NUL":        "GET /api/v1/wallet/a\x00b HTTP/1.1\r\nHost: x\r\n\r\n",
		"a path with a bad escape": "GET /api/v1/wallet/%zz HTTP/1.1\r\nHost: x\r\n\r\n",
		"a path with dot segments": "GET /api/v1/../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
		"TLS":                      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"two tokens": "GET /api/v1/auth/me HTTP/1.1\r\nHost: x\r\n" + auth +
			"Authorization: Bearer " + s.victim.token + "\r\n\r\n",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s.count.Add(1)
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
			require.NoError(t, err)
			defer func() { _ = conn.Close() }()
			require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
			_, _ = io.WriteString(conn, request)
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				return // The server may also close the connection.
			}
			defer resp.Body.Close()
			text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
			require.GreaterOrEqual(t, resp.StatusCode, 400, "%s", text)
			require.NotEqual(t, http.StatusInternalServerError, resp.StatusCode, "%s", text)
			require.Empty(t, resp.Header.Get("Injected"))
			require.NotRegexp(t, internalText, string(text))
		})
	}
}
