package test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// noFieldTest are the messages that no test of fields has, with the reasons.
var noFieldTest = map[protoreflect.FullName]string{
	"coffer.rest.v1.Cookie":       "it is a header",
	"coffer.rest.v1.FileHeader":   "it is the name and type of a file",
	"coffer.rest.v1.ArchivePiece": "it is a piece of a file",
	"coffer.ocr.v1.Receipt":       "a file decides all fields, see receipt_text_test.go",
	"coffer.budget.v1.Event":      "it is the envelope of the events that these tests read",
	"coffer.budget.v1.Notification": "its data is the event, and a client changes read only, " +
		"see notifications_test.go",
	"coffer.auth.v1.Passkey":           "a client sets the name only, see passkeys_test.go",
	"coffer.auth.v1.PersonalToken":     "no request changes it, see tokens_test.go",
	"coffer.ledger.v1.Reconciliation":  "no request changes it, see export_roundtrip_test.go",
	"coffer.ledger.v1.View":            "no events, changes or exports have it, see views_test.go",
	"coffer.budget.v1.Assignment":      "no request changes it, see goals_test.go",
	"coffer.budget.v1.WebhookDelivery": "no request sets a field, see package webhook",
}

// tested matches the type of a message in the tests of fields.
var tested = regexp.MustCompile(`message: +&(\w+)v1\.(\w+)\{\}`)

// TestFieldsOfAllResources requires that the tests of fields have each message that a writing
// request returns. A new resource fails it.
func TestFieldsOfAllResources(t *testing.T) {
	t.Parallel()
	covered := map[protoreflect.FullName]bool{}
	files, err := filepath.Glob("fields*_test.go")
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range tested.FindAllStringSubmatch(string(source), -1) {
			covered[protoreflect.FullName("coffer."+match[1]+".v1."+match[2])] = true
		}
	}
	for _, pkg := range []protoreflect.FullName{
		"coffer.auth.v1", "coffer.budget.v1", "coffer.ledger.v1",
	} {
		protoregistry.GlobalFiles.RangeFilesByPackage(pkg,
			func(file protoreflect.FileDescriptor) bool {
				for i := range file.Services().Len() {
					for name := range written(file.Services().Get(i).Methods()) {
						_, excused := noFieldTest[name]
						assert.NotEqual(t, excused, covered[name],
							"%s has no test of its fields and no reason", name)
					}
				}
				return true
			})
	}
}

// written returns the messages that writing methods return.
func written(methods protoreflect.MethodDescriptors) map[protoreflect.FullName]bool {
	names := map[protoreflect.FullName]bool{}
	for i := range methods.Len() {
		options, _ := methods.Get(i).Options().(*descriptorpb.MethodOptions)
		if options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS {
			continue
		}
		fields := methods.Get(i).Output().Fields()
		for j := range fields.Len() {
			if m := fields.Get(j).Message(); m != nil && !fields.Get(j).IsList() {
				names[m.FullName()] = true
			}
		}
	}
	return names
}
