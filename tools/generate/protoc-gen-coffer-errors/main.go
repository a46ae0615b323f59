// Command protoc-gen-coffer-errors is a protoc plugin that writes errors.md: an introduction, and a
// table of the values of the enum Reason with their codes, statuses and comments.
//
// generate-protos runs it and stores the page as docs/errors.md. The enum in
// proto/coffer/rest/v1/reason.proto is the only declaration of an error (ADR 66), so the table
// needs no maintenance. The text before the table is introduction.md in this folder.
//
// The plugin fails if a value has no comment. It reads the values from the compiled protos and not
// from the generated Go code, because only the compiled protos have comments. Start reading with
// page.
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

// page returns the introduction and the table, whose rows are sorted by code. It skips the first
// value of the enum, REASON_UNSPECIFIED, because no error has it.
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
	return introduction + "| code | HTTP status | gRPC code | meaning |\n|---|---|---|---|\n" +
		strings.Join(rows, ""), nil
}

// row returns the row of a reason. The comment of the reason must say when it is returned. A reason
// with also_invalid_argument exists with two gRPC codes, so its row lists both and both HTTP
// statuses.
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
	return fmt.Sprintf("| `%s` | %s | `%s` | %s |\n", value.Desc.Name(), status,
		strings.ReplaceAll(grpcCode, ", ", "`, `"), meaning), nil
}
