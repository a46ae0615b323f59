package production

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cents returns the amount of a row. Each tenth row is an income.
func cents(row int) int64 {
	if row%10 == 0 {
		return int64(100 + row%9000)
	}
	return -int64(100 + row%9000)
}

// form returns the multipart body of the upload, and its media type.
func (b *bulk) form(t *testing.T) (body []byte, mediaType string) {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	require.NoError(t, writer.WriteField("walletId", b.wallet))
	part, err := writer.CreateFormFile("file", "statement.csv")
	require.NoError(t, err)
	_, _ = io.WriteString(part, "Date;Description;Amount;Currency\n")
	for row := range b.rows {
		at := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, row*1800/b.rows)
		amount := strings.Replace(fmt.Sprintf("%.2f", float64(cents(row))/100), ".", ",", 1)
		_, _ = fmt.Fprintf(part, "%s;Purchase %d;%s;EUR\n",
			at.Format("02.01.2006"), row, amount)
	}
	require.NoError(t, writer.Close())
	return form.Bytes(), writer.FormDataContentType()
}

// booked is the transaction of a row.
type booked struct {
	cents    int64
	category string
}

// require requires that the transactions are those of the rows from first to before end, once each,
// with the category that was chosen, and that the wallet and the dashboard have their sums.
func (b *bulk) require(t *testing.T, first, end int) {
	t.Helper()
	var income, expense, balance int64
	want := map[string]booked{}
	for row := first; row < end; row++ {
		category := b.category
		if row < 2*chosen {
			category = b.other
		}
		want[fmt.Sprint("Purchase ", row)] = booked{cents(row), category}
		income, expense = income+max(cents(row), 0), expense-min(cents(row), 0)
		balance += cents(row)
	}
	answer, err := b.insist(http.MethodGet, "/wallet/"+b.wallet, nil)
	require.NoError(t, err)
	require.Equal(t, balance, inCents(answer["wallet"].(map[string]any)["balance"]))
	answer, err = b.insist(http.MethodGet, "/dashboard/summary?from=2021-01-01&to=2025-12-31", nil)
	require.NoError(t, err)
	if totals := answer["summary"].(map[string]any)["totals"].([]any); len(totals) > 0 || end > 0 {
		total := totals[0].(map[string]any)
		require.Equal(t, []int64{income, expense, int64(end - first)}, []int64{
			inCents(total["income"]), inCents(total["expense"]),
			int64(total["transactionCount"].(float64)),
		})
	}
	is := map[string]booked{}
	for cursor, more := "", true; more; {
		answer, err := b.insist(http.MethodGet, "/changes?limit=1000&cursor="+cursor, nil)
		require.NoError(t, err)
		for _, x := range answer["changes"].(map[string]any)["transactions"].([]any) {
			transaction := x.(map[string]any)
			// The import makes the only text of a row the payee.
			text, _ := transaction["payee"].(string)
			_, twice := is[text]
			require.False(t, twice, "%s is booked twice", text)
			category, _ := transaction["categoryId"].(string)
			is[text] = booked{inCents(transaction["amount"]), category}
		}
		pagination := answer["pagination"].(map[string]any)
		cursor, more = pagination["nextCursor"].(string), pagination["hasMore"].(bool)
	}
	// A difference of large maps would take minutes to print.
	require.Len(t, is, len(want))
	require.True(t, maps.Equal(want, is), "the transactions are not those of the rows")
}

func inCents(amount any) int64 { return int64(math.Round(amount.(float64) * 100)) }
