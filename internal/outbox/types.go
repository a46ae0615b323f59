package outbox

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Type returns the type of the event that a message encodes. The event's subject is its type and
// the user's id. The type of coffer.budget.v1.BudgetThresholdReached is
// budget.v1.budget.threshold_reached.
func Type(message protoreflect.FullName) string {
	if known, ok := types.Load(message); ok {
		return known.(string)
	}
	var words []string
	for _, r := range string(message.Name()) {
		if unicode.IsUpper(r) {
			words = append(words, "")
		}
		words[len(words)-1] += string(unicode.ToLower(r))
	}
	service := strings.TrimPrefix(string(message.Parent()), "coffer.")
	name := service + "." + words[0] + "." + strings.Join(words[1:], "_")
	types.Store(message, name)
	return name
}

var types sync.Map

// Types returns the sorted types of all events whose generated code the program links.
func Types() []string {
	var all []string
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(file.Path(), "coffer/") &&
			strings.HasSuffix(file.Path(), "/events.proto") {
			for i := range file.Messages().Len() {
				all = append(all, Type(file.Messages().Get(i).FullName()))
			}
		}
		return true
	})
	slices.Sort(all)
	return all
}
