package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRequestLimits sends values beyond each limit that the OpenAPI document states, and values at
// the limit. The service must reject the former with 400 and name the field. It must not complain
// about the latter, but may reject the request for another reason.
func TestRequestLimits(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the stack at BASE_URL must not be filled")
	}
	attack := &attackRun{stack: stack}
	attack.attacker, attack.attackerIDs = attack.newUserWithResources(t, "Limits")
	committed, open := attack.attackerIDs["import"], attack.attacker.importFile(
		"Date,Amount,Payee\n2026-03-14,-1.00,Shop\n", attack.attackerIDs["wallet"],
	).created("IMPORT_CREATED").text("import.id")
	count := 0
	for _, operation := range operations() {
		attack.attackerIDs["import"] = committed
		if strings.HasPrefix(operation.OperationID, "updateImport") {
			attack.attackerIDs["import"] = open
		}
		for _, input := range operation.limitedFields() {
			if slices.Contains(ignored, input.name()) {
				continue
			}
			complaints := map[any]bool{}
			for _, value := range input.beyond() {
				count++
				a := input.send(t, attack, value)
				problems := input.problems(a)
				assert.True(t, a.status == http.StatusBadRequest && len(problems) > 0,
					"%s: %s is beyond the limit: %.60v: %d %.300s",
					operation.OperationID, input.name(), value, a.status, a.raw)
				for _, problem := range problems {
					complaints[problem] = true
				}
			}
			for _, value := range input.atLimit(input.before(t, attack)) {
				a := input.send(t, attack, value)
				for _, problem := range input.problems(a) {
					assert.False(t, complaints[problem],
						"%s: %s is at the limit: %.60v: %d %.300s",
						operation.OperationID, input.name(), value, a.status, a.raw)
				}
			}
		}
	}
	require.Greater(t, count, 200)
}

// ignored has fields that a request may contain because an answer has them, and response, which is
// another name of status.
var ignored = []string{"accounts[0].kind", "categories[0].kind", "mapping.format", "response"}

// place matches the place of an element in a list, or nothing.
var place = regexp.MustCompile(`^(\[\d+\])?$`)

// problems returns the messages of a response about the field or its elements.
func (f limitedField) problems(a response) []any {
	var messages []any
	details, _ := a.body["details"].([]any)
	for _, d := range details {
		problem := d.(object)
		rest, ok := strings.CutPrefix(problem["field"].(string), f.name())
		if ok && place.MatchString(rest) {
			messages = append(messages, problem["message"])
		}
	}
	return messages
}

// limitedInput is a limited field of an operation, in its body or a parameter.
type limitedInput struct {
	limitedField
	operation operation
	// in is body, form, query or header.
	in string
}

// limitedFields returns all limited fields of an operation.
func (o operation) limitedFields() []limitedInput {
	var all []limitedInput
	add := func(in string, fields []limitedField) {
		for _, f := range fields {
			all = append(all, limitedInput{f, o, in})
		}
	}
	for _, p := range o.Parameters {
		if p.Value.In != "path" {
			add(p.Value.In, limitedFields(p.Value.Schema, []any{p.Value.Name}))
		}
	}
	if o.RequestBody == nil {
		return all
	}
	for mediaType, content := range o.RequestBody.Value.Content {
		in := "body"
		if mediaType != "application/json" {
			in = "form"
		}
		add(in, limitedFields(content.Schema, nil))
	}
	return all
}

// before returns the value of the field in a valid body.
func (f limitedInput) before(t *testing.T, s *attackRun) any {
	t.Helper()
	if f.in != "body" || len(f.path) != 1 {
		return nil
	}
	return s.body(t, f.operation)[f.path[0].(string)]
}

// send sends a valid request in which the field has a value.
func (f limitedInput) send(t *testing.T, attack *attackRun, value any) response {
	t.Helper()
	operation, path := f.operation, attack.path(t, f.operation)
	me := &user{t: t, base: attack.attacker.base, token: attack.attacker.token}
	name := f.path[0].(string)
	var body any
	var headers, texts []string
	switch f.in {
	case "body":
		body = placed(attack.body(t, operation), f.path, value)
	case "form":
		text, isText := placed(object{}, f.path, value).(object)[name].(string)
		if !isText {
			encoded, err := json.Marshal(placed(object{}, f.path, value).(object)[name])
			require.NoError(t, err)
			text = string(encoded)
		}
		texts = []string{name, text}
	case "header":
		headers = []string{name, fmt.Sprint(value)}
	case "query":
		given, isList := placed(object{}, f.path, value).(object)[name].([]any)
		if !isList {
			given = []any{value}
		}
		query := url.Values{}
		for _, v := range given {
			query.Add(name, fmt.Sprint(v))
		}
		path += "?" + query.Encode()
	}
	switch {
	case operation.isUpload():
		form, contentType := me.fileForm("a.csv", "Date,Amount,Payee\n2026-03-14,-1.00,Shop\n",
			texts...)
		return me.call(operation.method, path, form,
			append(headers, "Content-Type", contentType)...)
	case operation.OperationID == "createTransactionsFromReceipt":
		form, contentType := me.form([]byte(groceries), append(texts, "walletId",
			attack.attackerIDs["wallet"], "categoryId", attack.attackerIDs["category"])...)
		return me.call(operation.method, path, form,
			append(headers, "Content-Type", contentType)...)
	case body == nil && operation.hasBody():
		valid := attack.body(t, operation)
		if valid["dryRun"] != nil {
			valid["dryRun"] = false // A preview stores no response, so it ignores the key.
		}
		body = valid
	}
	return me.call(operation.method, path, body, headers...)
}

// TestRequestLimitsAreComplete checks that a field whose description names a number of characters
// has this limit.
func TestRequestLimitsAreComplete(t *testing.T) {
	t.Parallel()
	characters := regexp.MustCompile(`(\d+) characters`)
	checked := 0
	for _, operation := range operations() {
		if operation.RequestBody == nil {
			continue
		}
		for _, content := range operation.RequestBody.Value.Content {
			for name, property := range content.Schema.Value.Properties {
				match := characters.FindStringSubmatch(property.Value.Description)
				if match == nil {
					continue
				}
				s := property.Value
				if s.Items != nil {
					s = s.Items.Value
				}
				checked++
				require.NotNil(t, s.MaxLength, "%s.%s", operation.OperationID, name)
				require.Equal(t, match[1], fmt.Sprint(*s.MaxLength), "%s.%s", operation.OperationID,
					name)
			}
		}
	}
	require.Greater(t, checked, 20)
}
