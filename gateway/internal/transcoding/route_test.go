package transcoding

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

func TestRoutesHaveSuccessOptionsOrAreForServices(t *testing.T) {
	t.Parallel()
	for _, file := range []protoreflect.FileDescriptor{
		authv1.File_coffer_auth_v1_auth_proto, ledgerv1.File_coffer_ledger_v1_ledger_proto,
		ledgerv1.File_coffer_ledger_v1_transfers_proto, budgetv1.File_coffer_budget_v1_budget_proto,
		ocrv1.File_coffer_ocr_v1_ocr_proto,
	} {
		methods := file.Services().Get(0).Methods()
		for i := range methods.Len() {
			method := methods.Get(i)
			success := proto.GetExtension(method.Options(), restv1.E_Success).([]*restv1.Success)
			access := proto.GetExtension(method.Options(), restv1.E_Access).(restv1.Access)
			if !proto.HasExtension(method.Options(), annotations.E_Http) {
				require.Equal(t, restv1.Access_ACCESS_SERVICE, access, method.FullName())
				require.Empty(t, success, method.FullName())
				continue
			}
			require.NotEqual(t, restv1.Access_ACCESS_SERVICE, access, method.FullName())
			require.NotEmpty(t, success, method.FullName())
			fields := method.Output().Fields()
			for _, s := range success {
				require.Contains(t,
					[]int32{http.StatusOK, http.StatusCreated, http.StatusAccepted},
					s.GetHttpStatus(), method.FullName())
				enveloped := fields.ByName("code") != nil && fields.ByName("message") != nil
				require.Equal(t, s.GetCode() != "", enveloped, method.FullName())
				require.Equal(t, s.GetCode() == "", s.GetMessage() == "", method.FullName())
			}
		}
	}
}
