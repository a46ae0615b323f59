package recognition

import (
	"bytes"
	"context"
	_ "embed" // the schema
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
)

const (
	// visionPixels is the resolution that such models use. More pixels are only slower.
	visionPixels = 3_000_000
	// maxAnswer, in bytes, is far more than the longest receipt needs.
	maxAnswer = 1 << 20
	// answerTokens is enough for a receipt of about a hundred lines.
	answerTokens = 8192
)

// visionSchema is the JSON schema of an answer. It is part of the request, and answers are
// validated against it.
//
//go:embed vision.schema.json
var visionSchema []byte

const visionPrompt = `You read receipts. Answer with what is printed, nothing else: never ` +
	`compute or guess an amount. ` +
	`Amounts are decimals with a point. "tax" only when it is added to the lines' prices. ` +
	`"discount" is a discount on the whole receipt, as a positive amount; a discount on one item ` +
	`is a line with a negative amount. ` +
	`When the images show no receipt, every field is null and there are no lines.`

// vision is the engine that sends images to a model behind an OpenAI-compatible endpoint. The
// images leave the machine without the file's metadata. Answers are validated before use.
type vision struct {
	config VisionConfig
	schema *jsonschema.Schema
	client *http.Client
	now    func() time.Time
}

// VisionConfig configures the endpoint. If URL is empty, there is no endpoint.
type VisionConfig struct {
	// URL is the API's root, e.g. https://host/v1; /chat/completions is added.
	URL   string `env:"OCR_VISION_URL"`
	Model string `env:"OCR_VISION_MODEL"`
	// Key is sent as a bearer token if it is set.
	Key string `env:"OCR_VISION_KEY,unset"`
	// Timeout bounds one request, from connecting to the last byte.
	Timeout time.Duration `env:"OCR_VISION_TIMEOUT" envDefault:"30s"`
	// Fallback makes Tesseract read the receipts on which the endpoint fails.
	Fallback bool `env:"OCR_VISION_FALLBACK" envDefault:"false"`
}

// newVision validates the configuration and compiles the schema. It does not connect to the
// endpoint.
func newVision(config VisionConfig, now func() time.Time) (vision, error) {
	isHTTP := strings.HasPrefix(config.URL, "http://") || strings.HasPrefix(config.URL, "https://")
	if config.Model == "" || !isHTTP {
		return vision{}, errors.New("OCR_VISION_URL must start with http:// or https://, " +
			"and OCR_VISION_MODEL must be set")
	}
	schema, err := compile(visionSchema)
	if err != nil {
		return vision{}, fmt.Errorf("vision schema: %w", err)
	}
	// A redirect could send the image and the key to any server.
	redirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{CheckRedirect: redirect}
	return vision{config: config, schema: schema, client: client, now: now}, nil
}

func compile(schema []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	const name = "vision.schema.json"
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, err
	}
	return compiler.Compile(name)
}

func (v vision) read(ctx context.Context, images []*image.Gray) (Reading, error) {
	body, err := v.request(images)
	if err != nil {
		return Reading{}, err
	}
	answer, err := v.ask(ctx, body)
	if err != nil {
		return Reading{}, err
	}
	claim, err := v.parse(answer)
	if err != nil {
		return Reading{}, err
	}
	out := Reading{Receipt: claim.Check(v.now())}
	for _, img := range images {
		out.pages = append(out.pages, imaging.Frame{Size: img.Bounds().Size()})
	}
	return out, nil
}

func (v vision) request(images []*image.Gray) ([]byte, error) {
	type object = map[string]any
	var content []object
	for _, img := range images {
		var b bytes.Buffer
		small := imaging.ShrinkTo(img, visionPixels)
		if err := jpeg.Encode(&b, small, &jpeg.Options{Quality: 85}); err != nil {
			return nil, fmt.Errorf("encoding an image: %w", err)
		}
		url := "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
		content = append(content, object{"type": "image_url", "image_url": object{"url": url}})
	}
	schema := object{"name": "receipt", "strict": true, "schema": json.RawMessage(visionSchema)}
	return json.Marshal(object{
		"model": v.config.Model, "temperature": 0, "max_tokens": answerTokens,
		"response_format": object{"type": "json_schema", "json_schema": schema},
		"messages": []object{
			{"role": "system", "content": visionPrompt},
			{"role": "user", "content": content},
		},
	})
}

func (v vision) ask(ctx context.Context, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, v.config.Timeout)
	defer cancel()
	url := strings.TrimSuffix(v.config.URL, "/") + "/chat/completions"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if v.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+v.config.Key)
	}
	resp, err := v.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the endpoint answered %d", resp.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(answer) > maxAnswer {
		return nil, fmt.Errorf("the answer exceeds %d bytes", maxAnswer)
	}
	return answer, nil
}

type completion struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content string `json:"content"`
		} `json:"message"`
	} `json:"choices"`
}

// parse returns the receipt in an answer. Its errors quote nothing of the answer, because answers
// contain purchases.
func (v vision) parse(answer []byte) (receipt.Claim, error) {
	var completion completion
	if json.Unmarshal(answer, &completion) != nil || len(completion.Choices) == 0 {
		return receipt.Claim{}, errors.New("the endpoint answered no completion")
	}
	// Any other reason, such as length, means that the JSON may be incomplete.
	if reason := completion.Choices[0].FinishReason; reason != "stop" {
		return receipt.Claim{}, errors.New("the model did not finish its answer")
	}
	content := []byte(completion.Choices[0].Message.Content)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		return receipt.Claim{}, errors.New("the model answered no JSON")
	}
	if v.schema.Validate(doc) != nil {
		return receipt.Claim{}, errors.New("the model's answer does not match the schema")
	}
	var r struct {
		receipt.Claim
		Lines []receipt.Item
	}
	if json.Unmarshal(content, &r) != nil {
		return receipt.Claim{}, errors.New("the model answered no receipt")
	}
	r.Items = r.Lines
	return r.Claim, nil
}
