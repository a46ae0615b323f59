package recognition

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/fixture"
)

const visionAnswer = `{"merchant": "Corner Shop", "date": "2024-05-06", "currency": "EUR",
	"subtotal": null, "tax": "0.50", "tip": null, "discount": null, "rounding": null,
	"total": "6.00", "lines": [
	{"description": "Bread", "quantity": "2", "unitPrice": "1.25", "amount": "2.50"},
	{"description": "Milk", "quantity": null, "unitPrice": null, "amount": "3.00"}]}`

// endpoint starts a server in place of an OpenAI-compatible one and returns a configuration for it.
func endpoint(t *testing.T, answer http.HandlerFunc) Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A server notices a closed connection only after it has read the whole request.
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return Config{
		Tesseract: "tesseract", Timeout: 20 * time.Second,
		Vision: VisionConfig{
			URL: server.URL + "/v1", Model: "reader-1", Key: "secret", Timeout: 2 * time.Second,
		},
	}
}

func completionOf(content, reason string) []byte {
	message := map[string]any{"role": "assistant", "content": content}
	choice := map[string]any{"finish_reason": reason, "message": message}
	text, _ := json.Marshal(map[string]any{"choices": []any{choice}})
	return text
}

func completed(content, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(completionOf(content, reason))
	}
}

// changed completes with an answer in which old is replaced once.
func changed(old, other string) http.HandlerFunc {
	return completed(strings.Replace(visionAnswer, old, other, 1), "stop")
}

func visionReader(t *testing.T, c Config) Reader {
	t.Helper()
	r, err := New(c, nil, time.Now)
	require.NoError(t, err)
	return r
}

func TestVisionRequestAndResponse(t *testing.T) {
	t.Parallel()
	var asked struct {
		Model          string
		ResponseFormat struct {
			JSONSchema struct{ Schema map[string]any } `json:"json_schema"`
		} `json:"response_format"`
		Messages []struct{ Content any }
	}
	config := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" ||
			r.Header.Get("Authorization") != "Bearer secret" ||
			json.NewDecoder(r.Body).Decode(&asked) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		completed(visionAnswer, "stop")(w, r)
	})
	img := fixture.Printed(t, "CORNER SHOP\nTotal 6.00", 24)
	reading, err := visionReader(t, config).Read(t.Context(), fixture.JPEG(t, img))
	require.NoError(t, err)
	require.Equal(t, "reader-1", asked.Model)
	require.Contains(t, asked.ResponseFormat.JSONSchema.Schema, "required")
	part := asked.Messages[1].Content.([]any)[0].(map[string]any)
	url := part["image_url"].(map[string]any)["url"].(string)
	file, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:image/jpeg;base64,"))
	require.NoError(t, err)
	sent, err := jpeg.DecodeConfig(strings.NewReader(string(file)))
	require.NoError(t, err)
	require.Equal(t, img.Bounds().Dx(), sent.Width)

	p := reading.Response().GetReceipt()
	require.Equal(t, "Corner Shop", p.GetMerchant())
	require.Equal(t, "6.00", p.GetTotal())
	require.Equal(t, "0.50", p.GetTax())
	require.Equal(t, "1.25", p.GetLines()[0].GetUnitPrice())
	require.GreaterOrEqual(t, p.GetConfidence()["total"], 0.9, "the lines add up to it")
	require.Empty(t, p.GetWarnings())
}

// invalidResponses returns handlers whose responses must be rejected, by their defect.
func invalidResponses() map[string]http.HandlerFunc {
	whole := completionOf(visionAnswer, "stop")
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	body := func(b string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(b)) }
	}
	return map[string]http.HandlerFunc{
		"slow": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"slow body": func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(whole[:20])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"500": status(500), "429": status(429), "401": status(401), "204": status(204),
		"empty":      body(""),
		"not JSON":   body("<html>"),
		"no choices": body(`{"choices": []}`),
		"truncated": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
			_, _ = w.Write(whole[:len(whole)/2])
		},
		"too large": func(w http.ResponseWriter, _ *http.Request) {
			for range 40 {
				if _, err := w.Write([]byte(strings.Repeat(" ", 1<<20))); err != nil {
					return
				}
			}
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		},
		"connection closed": func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		},
		"length limit":     completed(visionAnswer, "length"),
		"content filter":   completed("", "content_filter"),
		"prose":            completed("The total is 6.00.", "stop"),
		"two answers":      completed(visionAnswer+visionAnswer, "stop"),
		"missing fields":   completed(`{"total": "6.00"}`, "stop"),
		"unknown field":    changed("{", `{"iban": "x", `),
		"number":           changed(`"6.00"`, `6.00`),
		"comma":            changed(`"6.00"`, `"6,00"`),
		"amount too large": changed(`"6.00"`, `"600000000000.00"`),
		"weekday as date":  changed(`"2024-05-06"`, `"Monday"`),
		"list":             completed("["+visionAnswer+"]", "stop"),
	}
}

func TestVisionInvalidResponse(t *testing.T) {
	t.Parallel()
	file := fixture.Small(t)
	for name, answer := range invalidResponses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			_, err := visionReader(t, endpoint(t, answer)).Read(t.Context(), file)
			require.ErrorIs(t, err, ErrResponse)
			require.NotContains(t, err.Error(), "6.00", "errors are logged")
			require.Less(t, time.Since(start), 10*time.Second)
		})
	}
}

func TestVisionDoesNotFollowRedirects(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		elsewhere.Add(1)
	}))
	t.Cleanup(other.Close)
	config := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusPermanentRedirect)
	})
	_, err := visionReader(t, config).Read(t.Context(), fixture.Small(t))
	require.ErrorIs(t, err, ErrResponse)
	require.Zero(t, elsewhere.Load())
}

func TestVisionUnavailable(t *testing.T) {
	t.Parallel()
	config := endpoint(t, func(http.ResponseWriter, *http.Request) {})
	config.Vision.URL = "http://127.0.0.1:1/v1"
	_, err := visionReader(t, config).Read(t.Context(), fixture.Small(t))
	require.ErrorIs(t, err, ErrResponse)
}

func TestVisionImageWithoutReceipt(t *testing.T) {
	t.Parallel()
	nothing := `{"merchant": null, "date": null, "currency": null, "subtotal": null, "tax": null,
		"tip": null, "discount": null, "rounding": null, "total": null, "lines": []}`
	file := fixture.JPEG(t, fixture.Printed(t, "a cat", 24))
	_, err := visionReader(t, endpoint(t, completed(nothing, "stop"))).Read(t.Context(), file)
	require.ErrorIs(t, err, ErrParse)
}

func TestVisionLinesThatDoNotAddUp(t *testing.T) {
	t.Parallel()
	config := endpoint(t, changed(`"3.00"`, `"3.10"`))
	r, err := visionReader(t, config).Read(t.Context(), fixture.Small(t))
	require.NoError(t, err)
	require.Less(t, r.Confidence["total"], 0.9)
	require.Equal(t, "LINES_NOT_RECONCILED", r.Response().GetReceipt().GetWarnings()[0].GetCode())
}

func TestVisionCanceledRequest(t *testing.T) {
	t.Parallel()
	config := endpoint(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	config.Vision.Timeout, config.Vision.Fallback = time.Minute, true
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := visionReader(t, config).Read(ctx, fixture.Small(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestVisionConfigRequiresURLAndModel(t *testing.T) {
	t.Parallel()
	for _, c := range []VisionConfig{
		{URL: "https://host/v1"}, {URL: "host/v1", Model: "m"}, {URL: "file:///etc", Model: "m"},
	} {
		_, err := New(Config{Vision: c}, nil, time.Now)
		require.Error(t, err)
	}
}

func FuzzVisionResponse(f *testing.F) {
	whole := completionOf(visionAnswer, "stop")
	f.Add(whole)
	f.Add([]byte(`{"choices": [{"finish_reason": "stop", "message": {"content": "{}"}}]}`))
	v, err := newVision(VisionConfig{URL: "http://host", Model: "m"}, time.Now)
	require.NoError(f, err)
	f.Fuzz(func(_ *testing.T, answer []byte) {
		claim, err := v.parse(answer)
		if err != nil {
			return
		}
		_ = claim.Check(time.Now())
	})
}
