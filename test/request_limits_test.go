package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// limitedField is a value in a request that the document limits.
type limitedField struct {
	// path has the names of members, and an element for the first element of a list.
	path   []any
	schema *openapi3.Schema
}

// element is a step from a list to its first element.
type element struct{ list *openapi3.Schema }

// name returns the field as details name it, for example conditions[0].values. A problem of an
// element of a simple list may name the list.
func (f limitedField) name() string {
	var b strings.Builder
	for i, step := range f.path {
		name, isMember := step.(string)
		switch {
		case !isMember:
			b.WriteString("[0]")
		case i > 0:
			b.WriteString("." + name)
		default:
			b.WriteString(name)
		}
	}
	return strings.TrimSuffix(b.String(), "[0]")
}

// limitedFields returns the limited values of a schema and of the schemas inside it.
func limitedFields(ref *openapi3.SchemaRef, path []any) []limitedField {
	s := ref.Value
	var found []limitedField
	if s.MaxLength != nil || s.MinLength > 0 || s.Pattern != "" || len(s.Enum) > 0 ||
		s.Max != nil || s.Min != nil || s.MaxItems != nil || s.MinItems > 0 {
		found = append(found, limitedField{path, s})
	}
	below := func(ref *openapi3.SchemaRef, step any) {
		found = append(found, limitedFields(ref, append(slices.Clone(path), step))...)
	}
	for _, part := range s.AllOf {
		found = append(found, limitedFields(part, path)...)
	}
	if s.Items != nil {
		below(s.Items, element{s})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		below(s.Properties[name], name)
	}
	return found
}

// beyond returns values that the limits exclude, each nearest to a limit.
func (f limitedField) beyond() []any {
	s := f.schema
	var values []any
	if s.MaxLength != nil {
		values = append(values, strings.Repeat("a", int(*s.MaxLength)+1))
	}
	if s.MinLength > 0 {
		values = append(values, strings.Repeat("a", int(s.MinLength)-1))
	}
	if s.Pattern != "" || len(s.Enum) > 0 {
		values = append(values, "!")
	}
	if s.Max != nil {
		values = append(values, number(*s.Max+1))
	}
	switch {
	case s.Min != nil && isExclusive(s):
		values = append(values, number(*s.Min))
	case s.Min != nil:
		values = append(values, number(*s.Min-1))
	}
	if s.MaxItems != nil {
		values = append(values, elements(s.Items, int(*s.MaxItems)+1))
	}
	if s.MinItems > 0 {
		values = append(values, elements(s.Items, int(s.MinItems)-1))
	}
	return values
}

// isExclusive reports whether a number must be more than its minimum.
func isExclusive(s *openapi3.Schema) bool { return s.Extensions["x-exclusive-minimum"] == true }

// atLimit returns values at the limits. before is the value of the field in a valid request, nil
// without one.
func (f limitedField) atLimit(before any) []any {
	s := f.schema
	var values []any
	if s.MaxLength != nil {
		text, _ := before.(string)
		padding := strings.Repeat("a", int(*s.MaxLength)-len(text))
		// An address, an emoji and a language tag are not any text.
		if !slices.Contains([]string{"email", "icon", "locale"}, f.name()) {
			values = append(values, text+padding)
		}
	}
	if s.Max != nil {
		values = append(values, number(*s.Max))
	}
	if s.Min != nil && !isExclusive(s) {
		values = append(values, number(*s.Min))
	}
	if s.MaxItems != nil {
		values = append(values, elements(s.Items, int(*s.MaxItems)))
	}
	if f.path[len(f.path)-1] != "op" { // Each field has its own operators.
		values = append(values, s.Enum...)
	}
	return values
}

func number(n float64) json.Number { return json.Number(strconv.FormatFloat(n, 'f', -1, 64)) }

// elements returns a list of n different elements.
func elements(items *openapi3.SchemaRef, n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = sample(items.Value, i)
	}
	return list
}

// sample returns the i-th value that a schema allows.
func sample(s *openapi3.Schema, i int) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[i%len(s.Enum)]
	case s.Type.Is("integer"), s.Type.Is("number"):
		return i + 1
	case s.Format == "uuid":
		return uuid.NewString()
	case s.Type.Is("string"):
		return fmt.Sprintf("x%d", i)
	}
	if s.Items != nil {
		return elements(s.Items, max(1, int(s.MinItems)))
	}
	value := object{}
	for _, name := range s.Required {
		value[name] = sample(s.Properties[name].Value, i)
	}
	return value
}

// placed returns a copy of a request's value in which the value at a path is replaced. It adds
// missing objects and lists.
func placed(root any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	if step, ok := path[0].(element); ok {
		list := items(root)
		for len(list) < 2 { // A split has at least two parts.
			list = append(list, sample(step.list.Items.Value, len(list)))
		}
		list[0] = placed(list[0], path[1:], value)
		return list
	}
	name := path[0].(string)
	members, _ := root.(object)
	return with(members, object{name: placed(members[name], path[1:], value)})
}

// items returns the elements of a list that a test wrote, nil for another value.
func items(value any) []any {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	var list []any
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	return list
}

// TestRequestLimits sends values beyond each limit that the OpenAPI document states, and values at
// the limit. The service must reject the former with 400 and name the field. It must not complain
// about the latter, but may reject the request for another reason.
func TestRequestLimits(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the stack at BASE_URL must not be filled")
	}
	s := &attackRun{stack: stack}
	s.attacker, s.attackerIDs = s.newUserWithResources(t, "Limits")
	committed, open := s.attackerIDs["import"], s.attacker.importFile(
		"Date,Amount,Payee\n2026-03-14,-1.00,Shop\n", s.attackerIDs["wallet"],
	).created("IMPORT_CREATED").text("import.id")
	count := 0
	for _, o := range operations() {
		s.attackerIDs["import"] = committed
		if strings.HasPrefix(o.OperationID, "updateImport") {
			s.attackerIDs["import"] = open
		}
		for _, f := range o.limitedFields() {
			if slices.Contains(ignored, f.name()) {
				continue
			}
			complaints := map[any]bool{}
			for _, value := range f.beyond() {
				count++
				a := f.send(t, s, value)
				problems := f.problems(a)
				assert.True(t, a.status == http.StatusBadRequest && len(problems) > 0,
					"%s: %s is beyond the limit: %.60v: %d %.300s", o.OperationID, f.name(), value,
					a.status, a.raw)
				for _, problem := range problems {
					complaints[problem] = true
				}
			}
			for _, value := range f.atLimit(f.before(t, s)) {
				a := f.send(t, s, value)
				for _, problem := range f.problems(a) {
					assert.False(t, complaints[problem], "%s: %s is at the limit: %.60v: %d %.300s",
						o.OperationID, f.name(), value, a.status, a.raw)
				}
			}
		}
	}
	require.Greater(t, count, 200)
}

// ignored has fields that a request may contain because an answer has them, and response, which is
// another name of status.
var ignored = []string{"categories[0].kind", "mapping.format", "response"}

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
func (f limitedInput) send(t *testing.T, s *attackRun, value any) response {
	t.Helper()
	o, path := f.operation, s.path(t, f.operation)
	u := &user{t: t, base: s.attacker.base, token: s.attacker.token}
	name := f.path[0].(string)
	var body any
	var headers, texts []string
	switch f.in {
	case "body":
		body = placed(s.body(t, o), f.path, value)
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
	case o.isUpload():
		form, contentType := u.fileForm("a.csv", "Date,Amount,Payee\n2026-03-14,-1.00,Shop\n",
			texts...)
		return u.call(o.method, path, form, append(headers, "Content-Type", contentType)...)
	case o.OperationID == "createTransactionsFromReceipt":
		form, contentType := u.form([]byte(groceries), append(texts, "walletId",
			s.attackerIDs["wallet"], "categoryId", s.attackerIDs["category"])...)
		return u.call(o.method, path, form, append(headers, "Content-Type", contentType)...)
	case body == nil && o.hasBody():
		valid := s.body(t, o)
		if valid["dryRun"] != nil {
			valid["dryRun"] = false // A preview stores no response, so it ignores the key.
		}
		body = valid
	}
	return u.call(o.method, path, body, headers...)
}

// TestRequestLimitsAreComplete checks that a field whose description names a number of characters
// has this limit.
func TestRequestLimitsAreComplete(t *testing.T) {
	t.Parallel()
	characters := regexp.MustCompile(`(\d+) characters`)
	checked := 0
	for _, o := range operations() {
		if o.RequestBody == nil {
			continue
		}
		for _, content := range o.RequestBody.Value.Content {
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
				require.NotNil(t, s.MaxLength, "%s.%s", o.OperationID, name)
				require.Equal(t, match[1], fmt.Sprint(*s.MaxLength), "%s.%s", o.OperationID, name)
			}
		}
	}
	require.Greater(t, checked, 20)
}
