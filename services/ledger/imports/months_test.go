package imports

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

const (
	// monthRows is the number of rows of a statement of a month.
	monthRows = 60
	// monthShops is the number of shops, and monthCategories that of their categories.
	monthShops      = 40
	monthCategories = 8
)

// months is a user who imports a statement each month.
type months struct {
	person
	*transactions.Transactions
	*rand.Rand
	categories []uuid.UUID
}

// statement returns the statement of a month, and the shop of each row. Frequencies of shops are
// Zipf-distributed. Their names have numbers, cities and prefixes of payment services.
func (u *months) statement(month int) (file string, shops []int) {
	var b strings.Builder
	b.WriteString("Date;Payee;Description;Amount;Currency\n")
	day := time.Now().AddDate(0, month-4, 0)
	for i := range monthRows {
		total := 0.0
		for shop := range monthShops {
			total += 1 / float64(shop+1)
		}
		at, shop := u.Float64()*total, 0
		for ; shop < monthShops-1; shop++ {
			if at -= 1 / float64(shop+1); at < 0 {
				break
			}
		}
		shops = append(shops, shop)
		fmt.Fprintf(&b, "%s;%s;;-%d,%02d;EUR\n", day.Format("02.01.2006"), u.payee(shop), i+1, month)
	}
	return b.String(), shops
}

// payee returns the name of a shop on a statement.
func (u *months) payee(shop int) string {
	name := fmt.Sprintf("%c%cmarket %c%cson", 'a'+shop%26, 'k'+shop/26, 'p'-shop/26, 'z'-shop%26)
	if u.IntN(2) == 0 {
		name += fmt.Sprintf(" %04d", u.IntN(10_000))
	}
	switch u.IntN(10) {
	case 0:
		return "PAYPAL *" + name
	case 1:
		return "SumUp  *" + name
	}
	return name
}

// importMonth imports the statement of a month with the default category. Of each row, the user
// looks at a share and corrects its category if it is wrong. It returns the number of rows that had
// the right category, and of those with a wrong one that is not the default.
func (u *months) importMonth(t *testing.T, month int, share float64) (right, wrong int) {
	t.Helper()
	file, shops := u.statement(month)
	m := u.commit(t, u.mustUpload(t, file))
	require.EqualValues(t, monthRows, m.GetCounts().GetBooked())
	for i, r := range u.rows(t, m) {
		want := u.categories[shops[i]%monthCategories].String()
		switch r.GetCategoryId() {
		case want:
			right++
			continue
		case u.Category.String():
		default:
			wrong++
		}
		if u.Float64() < share {
			_, err := u.UpdateTransaction(u.Ctx, &ledgerv1.UpdateTransactionRequest{
				Id: r.GetTransactionId(), CategoryId: &want,
			})
			require.NoError(t, err)
		}
	}
	return right, wrong
}

// TestImportLearnsFromCorrections imports the statements of three months with a default category. A
// user corrects a share of their rows. It requires that the fourth month has the right categories.
func TestImportLearnsFromCorrections(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rpcs := transactions.New(s.Service.Ledger, s.Service.Cursors, s.Reads)
	for _, c := range []struct{ share, right float64 }{{0.1, 0.5}, {0.3, 0.75}, {1, 0.9}} {
		t.Run(fmt.Sprintf("%.0f percent of the rows", 100*c.share), func(t *testing.T) {
			t.Parallel()
			u := &months{
				person: newPerson(t, s), Transactions: rpcs, Rand: rand.New(rand.NewPCG(1, 2)),
			}
			for i := range monthCategories {
				u.categories = append(u.categories,
					u.MakeCategory(u.Ctx, t, fmt.Sprintf("Category %d", i)))
			}
			for month := range 3 {
				u.importMonth(t, month, c.share)
			}
			right, wrong := u.importMonth(t, 3, 0)
			t.Logf("corrections of %.0f %% of the rows of three months: of %d rows of the fourth month, %d are right, %d wrong and %d have the default category",
				100*c.share, monthRows, right, wrong, monthRows-right-wrong)
			assert.GreaterOrEqual(t, float64(right)/monthRows, c.right)
			assert.LessOrEqual(t, wrong, monthRows/20)
		})
	}
}
