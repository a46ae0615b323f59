// Command protoc-gen-coffer-errors is a protoc plugin that writes errors.md: an introduction, and a table of the values of the enum
// Reason with their codes, statuses and comments.
package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// introduction is the part of the page before the table.
//
//go:embed introduction.md
var introduction string

func main() {
	protogen.Options{}.Run(func(plugin *protogen.Plugin) error {
		plugin.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		page, err := page(plugin.Files)
		if err != nil {
			return err
		}
		_, err = plugin.NewGeneratedFile("errors.md", "").Write([]byte(page))
		return err
	})
}

func page(files []*protogen.File) (string, error) {
	var rows []string
	for _, file := range files {
		for _, enum := range file.Enums {
			if enum.Desc.FullName() != restv1.Reason_REASON_UNSPECIFIED.Descriptor().FullName() {
				continue
			}
			for _, value := range enum.Values[1:] {
				row, err := row(value)
				if err != nil {
					return "", err
				}
				rows = append(rows, row)
			}
		}
	}
	slices.SortFunc(rows, cmp.Compare)
	return introduction + "| code | HTTP status | gRPC code | meaning |\n|---|---|---|---|\n" + strings.Join(rows, ""), nil
}

// row returns the row of a reason. The comment of the reason must say when it is returned.
func row(value *protogen.EnumValue) (string, error) {
	meaning := strings.Join(strings.Fields(string(value.Comments.Leading)), " ")
	if meaning == "" {
		return "", fmt.Errorf("%s has no comment", value.Desc.Name())
	}
	options := value.Desc.Options()
	status := fmt.Sprint(proto.GetExtension(options, restv1.E_HttpStatus))
	grpcCode := proto.GetExtension(options, restv1.E_Code).(code.Code).String()
	if proto.GetExtension(options, restv1.E_AlsoInvalidArgument).(bool) {
		status = fmt.Sprintf("%d, %s", http.StatusBadRequest, status)
		grpcCode = fmt.Sprintf("%s, %s", code.Code_INVALID_ARGUMENT, grpcCode)
	}
	return fmt.Sprintf("| `%s` | %s | `%s` | %s |\n", value.Desc.Name(), status, strings.ReplaceAll(grpcCode, ", ", "`, `"), meaning), nil
}
