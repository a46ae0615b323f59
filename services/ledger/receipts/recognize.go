package receipts

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

// recognize sends the file to the ocr service. It returns that service's errors about the file
// (OCR_PARSE_FAILED, RECEIPT_TOO_COMPLEX, OCR_RESPONSE_FAILED) or its load (SERVICE_UNAVAILABLE)
// unchanged. It logs any other failure and returns OCR_RESPONSE_FAILED.
func (s *Receipts) recognize(ctx context.Context, upload upload) (*ocrv1.RecognizeResponse, error) {
	within := ctx
	if deadline, ok := ctx.Deadline(); ok {
		limited, cancel := context.WithDeadline(ctx, deadline.Add(-writeReserve))
		defer cancel()
		within = limited
	}
	resp, err := s.OCR.Recognize(within, &ocrv1.RecognizeRequest{
		File: upload.file, UserId: upload.owner.String(), Pictures: upload.keepImage,
		Preview: upload.showImage,
	})
	if err == nil && resp.GetReceipt() != nil {
		return resp, nil
	}
	// The client has disconnected. That is not a failure of the ocr service.
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	if e := apierr.From(err); e != nil && slices.Contains([]string{
		errOCRParse.Reason, errTooComplex.Reason, errOCRResponse.Reason, apierr.Unavailable.Reason,
	}, e.Reason) {
		return nil, e
	}
	s.Log.WarnContext(ctx, "failed to recognize a receipt", "error", err)
	return nil, errOCRResponse
}

// partOf returns the receipt of the request's part. It has the pages of the file.
func (u upload) partOf(recognized *ocrv1.RecognizeResponse) (*ocrv1.Receipt, error) {
	all := recognized.GetReceipts()
	switch {
	case u.part == 1:
		return recognized.GetReceipt(), nil
	case u.part > len(all):
		return nil, apierr.Invalid("part", fmt.Sprintf(
			"must be at most %d, the number of receipts in the file", max(1, len(all))))
	}
	part := proto.CloneOf(all[u.part-1])
	part.Pages = recognized.GetReceipt().GetPages()
	return part, nil
}

// warn adds a warning unless the ocr service has added it already.
func warn(r *ocrv1.Receipt, code, message string) {
	if !slices.ContainsFunc(r.GetWarnings(), func(w *ocrv1.Warning) bool {
		return w.GetCode() == code
	}) {
		r.Warnings = append(r.Warnings, &ocrv1.Warning{Code: code, Message: message})
	}
}

func unwarn(r *ocrv1.Receipt, code string) {
	r.Warnings = slices.DeleteFunc(r.GetWarnings(), func(w *ocrv1.Warning) bool {
		return w.GetCode() == code
	})
}

// warnDuplicate adds a warning with the id of the earlier receipt of the same file, if there is
// one.
func warnDuplicate(r *ocrv1.Receipt, earlier *uuid.UUID) {
	if earlier != nil {
		r.Warnings = append(r.Warnings, &ocrv1.Warning{
			Code: "DUPLICATE_OF", Message: "The same file was uploaded before",
			ReceiptId: new(earlier.String()),
		})
	}
}
