package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// statuses says what the gateway answers each reason with. A reason that a comment names and this table does not is an
// error, so that the document cannot fall behind.
var statuses = map[string][]int{
	"VALIDATION_ERROR": {400}, "EMPTY_UPDATE": {400}, "UNSUPPORTED_CURRENCY": {400}, "INVALID_CURSOR": {400},
	"INVALID_TRANSACTION_ID": {400}, "INVALID_TRANSACTION_DATE": {400}, "INVALID_TRANSACTION_TYPE": {400},
	"INVALID_RECEIPT_ID": {400}, "RECEIPT_FILE_REQUIRED": {400}, "RECEIPT_CURRENCY_MISMATCH": {400}, "INVALID_SESSION_ID": {400},
	"INVALID_BUDGET_ID": {400}, "INVALID_BUDGET_PERIOD": {400}, "INVALID_BUDGET_TIMEFRAME": {400},
	"INVALID_INVITE_RESPONSE": {400}, "CANNOT_INVITE_SELF": {400}, "BUDGET_SHARE_EXCEEDED": {400},
	"INVALID_BUDGET_MEMBER_ID": {400}, "INVALID_NOTIFICATION_ID": {400}, "INVALID_WEBHOOK_ID": {400}, "INVALID_WEBHOOK_URL": {400}, "INVALID_WEBHOOK_DELIVERY_ID": {400},
	"WALLET_NOT_FOUND": {400, 404}, "INVALID_CATEGORY_EXIST_PARAMS": {400, 404},
	"UNAUTHORIZED": {401}, "TOKEN_EXPIRED": {401}, "INVALID_CREDENTIALS": {401}, "INVALID_REFRESH_TOKEN": {401},
	"INSUFFICIENT_PERMISSIONS": {403}, "TRANSACTION_OWNER_MISMATCH": {403},
	"TRANSACTION_NOT_FOUND": {404}, "RECEIPT_NOT_FOUND": {404}, "RECEIPT_IMAGE_NOT_FOUND": {404}, "SESSION_NOT_FOUND": {404}, "USER_NOT_FOUND": {404},
	"BUDGET_NOT_FOUND": {404}, "BUDGET_MEMBER_NOT_FOUND": {404}, "NOTIFICATION_NOT_FOUND": {404}, "WEBHOOK_NOT_FOUND": {404}, "WEBHOOK_DELIVERY_NOT_FOUND": {404},
	"EMAIL_ALREADY_EXISTS": {409}, "CATEGORY_ALREADY_EXISTS": {409}, "WALLET_IN_USE": {409}, "CATEGORY_IN_USE": {409},
	"BUDGET_ALREADY_EXISTS": {409}, "BUDGET_MEMBER_ALREADY_EXISTS": {409}, "RECEIPT_DUPLICATE": {409},
	"IDEMPOTENCY_KEY_CONFLICT": {409}, "WEBHOOK_LIMIT_REACHED": {409},
	"WALLET_LIMIT_REACHED": {409}, "WALLET_CURRENCY_LIMIT_REACHED": {409}, "CATEGORY_LIMIT_REACHED": {409},
	"VERSION_MISMATCH": {412}, "PAYLOAD_TOO_LARGE": {413}, "UNSUPPORTED_MEDIA_TYPE": {415}, "RATE_LIMITED": {429},
	"OCR_PARSE_FAILED": {500}, "OCR_RESPONSE_FAILED": {500}, "INTERNAL": {500},
	"SERVICE_UNAVAILABLE": {503}, "DEADLINE_EXCEEDED": {504},
}

var (
	// reason is a code in a comment; HTTP methods and acronyms have no underscore, and UNAUTHORIZED is the only such code.
	reason = regexp.MustCompile(`\b[A-Z]+(?:_[A-Z]+)+\b|\bUNAUTHORIZED\b`)
	// like refers to other RPCs: "As GetTransaction and CreateTransaction".
	like = regexp.MustCompile(`\bAs ([A-Z]\w+)(?: and ([A-Z]\w+))?`)
)

// conditions are the phrases by which a service's comment says which RPCs may answer with the codes that follow.
var conditions = map[string]func(*operation) bool{
	"Any RPC":                            func(*operation) bool { return true },
	"those that take a user's token":     func(o *operation) bool { return !o.public },
	"those that take an idempotency key": func(o *operation) bool { return o.takes("idempotency_key") },
	"those that take if_match":           func(o *operation) bool { return o.takes("if_match") },
	"those that take a cursor":           func(o *operation) bool { return o.takes("cursor") },
	"those that take a budget id":        func(o *operation) bool { return o.takes("budget_id") || strings.Contains(o.path, "/budgets/{id}") },
}

func (o *operation) takes(field protoreflect.Name) bool {
	return o.method.Input.Desc.Fields().ByName(field) != nil
}

// reasons are the codes that a service's comments name.
type reasons struct {
	methods map[string]string
	clauses map[string][]string
}

func newReasons(service *protogen.Service) (*reasons, error) {
	r := &reasons{methods: map[string]string{}, clauses: map[string][]string{}}
	for _, m := range service.Methods {
		r.methods[m.GoName] = comment(m.Comments.Leading)
	}
	for _, clause := range strings.FieldsFunc(comment(service.Comments.Leading), func(c rune) bool { return c == ';' || c == '.' }) {
		codes := reason.FindAllString(clause, -1)
		if len(codes) == 0 {
			continue
		}
		known := false
		for phrase := range conditions {
			if strings.Contains(clause, phrase) {
				r.clauses[phrase] = append(r.clauses[phrase], codes...)
				known = true
			}
		}
		if !known {
			return nil, fmt.Errorf("%s: which RPCs does %q speak of?", service.Desc.FullName(), strings.TrimSpace(clause))
		}
	}
	return r, nil
}

// of are the codes that a method's comment names, and those of the methods that it refers to.
func (r *reasons) of(method string, depth int) []string {
	text := r.methods[method]
	codes := reason.FindAllString(text, -1)
	if match := like.FindStringSubmatch(text); match != nil && depth > 0 {
		codes = append(codes, r.of(match[1], depth-1)...)
		codes = append(codes, r.of(match[2], depth-1)...)
	}
	return codes
}

// byStatus are the codes that an operation may answer with, sorted.
func (r *reasons) byStatus(o *operation) (map[int][]string, error) {
	codes := append(r.of(o.method.GoName, 2), "RATE_LIMITED", "INTERNAL", "SERVICE_UNAVAILABLE", "DEADLINE_EXCEEDED")
	for phrase, more := range r.clauses {
		if conditions[phrase](o) {
			codes = append(codes, more...)
		}
	}
	if o.body {
		codes = append(codes, "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE")
	}
	slices.Sort(codes)
	out := map[int][]string{}
	for _, code := range slices.Compact(codes) {
		for _, status := range statuses[code] {
			out[status] = append(out[status], code)
		}
		if statuses[code] == nil {
			return nil, fmt.Errorf("the status of %s is not known", code)
		}
	}
	if len(out[http.StatusBadRequest]) == 0 {
		return nil, fmt.Errorf("no 400 is described")
	}
	return out, nil
}
