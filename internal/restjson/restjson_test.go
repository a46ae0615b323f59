package restjson

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"pgregory.net/rapid"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

func TestAppendStringRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		written := appendString(nil, []byte(s))
		var back string
		require.NoError(t, json.Unmarshal(written, &back), string(written))
		require.Equal(t, s, back)
	})
}

func TestAppendDoubleRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		written := appendDouble(nil, f)
		var back float64
		require.NoError(t, json.Unmarshal(written, &back), string(written))
		require.Equal(t, math.Float64bits(f), math.Float64bits(back))
	})
}

func TestIsNumberAgreesWithJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`-?[0-9]{0,3}(\.[0-9]{0,2})?([eE][+-]?[0-9]{0,2})?`).Draw(t, "s")
		require.Equal(t, json.Valid([]byte(s)), IsNumber(s), s)
	})
}

func TestAppendWrapperAsList(t *testing.T) {
	t.Parallel()
	for want, summary := range map[string]*ledgerv1.Summary{
		"":   {},
		`[]`: {Daily: &ledgerv1.DailyTotals{}},
		`[{"date":"2026-03-01","currency":"JPY","income":0,"expense":7}]`: {
			Daily: &ledgerv1.DailyTotals{Values: []*ledgerv1.DayTotals{
				{Date: "2026-03-01", Currency: "JPY", Income: "0", Expense: "7"},
			}},
		},
	} {
		written, err := Append(nil, summary)
		require.NoError(t, err)
		var back struct{ Daily json.RawMessage }
		require.NoError(t, json.Unmarshal(written, &back))
		require.Equal(t, want, string(back.Daily))
	}
}

func TestAppendRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := fmt.Sprintf("%d.%02d", rapid.Int64().Draw(t, "major"),
			rapid.IntRange(0, 99).Draw(t, "minor"))
		confidence := rapid.MapOf(rapid.String(), rapid.Float64()).Draw(t, "confidence")
		receipt := &ocrv1.Receipt{
			Merchant: rapid.String().Draw(t, "merchant"), Total: amount, Confidence: confidence,
			Lines: []*ocrv1.Line{{Description: rapid.String().Draw(t, "line"), Amount: amount}},
			Evidence: []*ocrv1.Evidence{
				{Page: rapid.Int32().Draw(t, "page"), Box: &ocrv1.Box{X: -1}},
			},
		}
		written, err := Append(nil, receipt)
		require.NoError(t, err)
		again, err := Append(nil, proto.Clone(receipt))
		require.NoError(t, err)
		require.Equal(t, string(written), string(again), "deterministic")
		var back struct {
			Merchant   string
			Total      json.Number
			Confidence map[string]float64
			Lines      []struct {
				Description string
				Amount      json.Number
			}
			Evidence []struct {
				Page int32
				Box  map[string]int32
			}
			Warnings []any
		}
		require.NoError(t, json.Unmarshal(written, &back), string(written))
		require.Equal(t, receipt.GetMerchant(), back.Merchant)
		require.Equal(t, amount, back.Total.String())
		require.Equal(t, receipt.GetConfidence(), back.Confidence)
		require.Equal(t, receipt.GetLines()[0].GetDescription(), back.Lines[0].Description)
		require.Equal(t, receipt.GetEvidence()[0].GetPage(), back.Evidence[0].Page)
		require.NotNil(t, back.Warnings)
	})
}

func TestAppendInt64AsNumber(t *testing.T) {
	t.Parallel()
	written, err := Append(nil, &ledgerv1.SpentAmount{Currency: "JPY", SpentMinor: math.MinInt64})
	require.NoError(t, err)
	require.Contains(t, string(written), `"spentMinor":-9223372036854775808`)
}

func TestAppendAnyAsItsMessage(t *testing.T) {
	t.Parallel()
	packed, err := anypb.New(&ledgerv1.WalletDeleted{OwnerId: "a", WalletId: "b"})
	require.NoError(t, err)
	written, err := Append(nil, packed)
	require.NoError(t, err)
	require.JSONEq(t, `{"ownerId":"a","walletId":"b"}`, string(written))
	_, err = Append(nil, &anypb.Any{TypeUrl: "type.googleapis.com/coffer.Unknown"})
	require.Error(t, err)
}

func FuzzAppendEncoded(f *testing.F) {
	for _, message := range []proto.Message{
		&ocrv1.Receipt{
			Total: "3.20", Confidence: map[string]float64{"total": 0.5},
			Evidence: []*ocrv1.Evidence{{Page: -1, Box: &ocrv1.Box{X: 7}}},
		},
		&ledgerv1.ListTransactionsResponse{
			Transactions: []*ledgerv1.Transaction{{Amount: "-1", Description: "é\x7f\u2028"}},
		},
	} {
		encoded, err := proto.Marshal(message)
		require.NoError(f, err)
		f.Add(encoded)
		f.Add(encoded[:len(encoded)-1])
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		for _, m := range []proto.Message{&ocrv1.Receipt{}, &ledgerv1.ListTransactionsResponse{}} {
			written, err := AppendEncoded(nil, m.ProtoReflect().Descriptor(), encoded)
			if err == nil {
				require.True(t, json.Valid(written), string(written))
			} else {
				require.Nil(t, written)
			}
			Value(encoded, m.ProtoReflect().Descriptor().Fields().Get(0))
		}
	})
}

func BenchmarkPageOfFifty(b *testing.B) {
	page := &ledgerv1.ListTransactionsResponse{}
	for range 50 {
		page.Transactions = append(page.Transactions, &ledgerv1.Transaction{
			Id: "0199f0c5-1c5a-7000-8000-000000000001", Amount: "-12.30",
			Description: "Lunch with a colleague", Date: "2026-01-02T00:00:00.000Z",
			Currency:   "EUR",
			WalletId:   "0199f0c5-1c5a-7000-8000-000000000001",
			CategoryId: "0199f0c5-1c5a-7000-8000-000000000001", Type: "expense",
			CreatedAt: "2026-01-02T00:00:00.000Z", UpdatedAt: "2026-01-02T00:00:00.000Z",
		})
	}
	encoded, err := proto.Marshal(page)
	require.NoError(b, err)
	var buf []byte
	for b.Loop() {
		buf, _ = AppendEncoded(buf[:0], page.ProtoReflect().Descriptor(), encoded)
	}
}

func TestAppendOmitWith(t *testing.T) {
	t.Parallel()
	for want, message := range map[string]*budgetv1.ListedBudget{
		`{"id":"a","name":"","ownerId":"","role":""}`: {Id: "a"},

		`{"id":"","name":"","limit":1,"categoryIds":[],"ownerId":"","role":"",` +
			`"members":[],"alertThresholds":[]}`: {Limit: new("1")},

		`{"id":"","name":"","categoryIds":["b"],"ownerId":"","role":"",` +
			`"alertThresholds":[80]}`: {CategoryIds: []string{"b"}, AlertThresholds: []int32{80}},

		`{"id":"","name":"","limit":1,"categoryIds":["b"],"ownerId":"","role":"",` +
			`"members":[],"alertThresholds":[]}`: {CategoryIds: []string{"b"}, Limit: new("1")},
	} {
		got, err := Append(nil, message)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

// TestAppendOmitsAbsentNumber encodes the answer of an earlier release, which does not have the
// field.
func TestAppendOmitsAbsentNumber(t *testing.T) {
	t.Parallel()
	text, err := Append(nil, &ledgerv1.Balance{Currency: "EUR"})
	require.NoError(t, err)
	require.JSONEq(t, `{"currency":"EUR"}`, string(text))
	_, err = Append(nil, &ledgerv1.Balance{Currency: "EUR", Amount: "many"})
	require.ErrorIs(t, err, errNotANumber)
}

// TestPlansOfLists requires that the messages of lists have no more fields than usualFields.
// Otherwise each element of a page costs an allocation.
func TestPlansOfLists(t *testing.T) {
	t.Parallel()
	lists := 0
	protoregistry.GlobalTypes.RangeMessages(func(message protoreflect.MessageType) bool {
		for i := range message.Descriptor().Fields().Len() {
			field := message.Descriptor().Fields().Get(i)
			if !strings.HasPrefix(string(field.FullName()), "coffer.") || !field.IsList() ||
				field.Message() == nil {
				continue
			}
			lists++
			require.LessOrEqual(t, len(planOf(field.Message()).fields), usualFields,
				field.FullName())
		}
		return true
	})
	require.Greater(t, lists, 20)
}
