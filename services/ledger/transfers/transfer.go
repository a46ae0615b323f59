package transfers

import (
	"math/big"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// maxRateDigits and maxRateDecimals limit the digits of a rate. The proto of Transfer states
	// the same numbers to clients.
	maxRateDigits   = 10
	maxRateDecimals = 10
)

// Transfer is the two transactions of a transfer: Out has a negative amount, and In a positive one.
// Both have the same TransferID, Version and UpdatedAt.
type Transfer struct{ Out, In posting.Transaction }

// Of returns the transfer of two legs, in any order.
func Of(a, b posting.Transaction) Transfer {
	if a.AmountMinor > 0 {
		a, b = b, a
	}
	return Transfer{Out: a, In: b}
}

func (t Transfer) id() uuid.UUID { return *t.Out.TransferID }

func (t Transfer) legs() []posting.Transaction { return []posting.Transaction{t.Out, t.In} }

func (t Transfer) inOneCurrency() bool { return t.Out.Currency == t.In.Currency }

// next returns t with the version after both versions of before, so that no leg repeats an ETag
// that a client has. The versions of before differ only if the legs were separate transactions
// until now.
func (t Transfer) next(before Transfer, now time.Time) Transfer {
	version := max(before.Out.Version, before.In.Version) + 1
	t.Out.Version, t.In.Version, t.Out.UpdatedAt, t.In.UpdatedAt = version, version, now, now
	return t
}

// Proto returns t as the API shows it. Where the legs differ, it shows the outgoing one. Matched
// transactions keep their own dates and texts, so the legs can differ in them.
func (t Transfer) Proto() *ledgerv1.Transfer {
	out, in := money.CurrencyOf(t.Out.Currency), money.CurrencyOf(t.In.Currency)
	return &ledgerv1.Transfer{
		Id:               t.id().String(),
		FromWalletId:     t.Out.WalletID.String(),
		ToWalletId:       t.In.WalletID.String(),
		Amount:           out.Format(-t.Out.AmountMinor),
		Currency:         t.Out.Currency,
		ToAmount:         in.Format(t.In.AmountMinor),
		ToCurrency:       t.In.Currency,
		Rate:             rate(-t.Out.AmountMinor, out.Decimals(), t.In.AmountMinor, in.Decimals()),
		Date:             calendar.FormatTime(t.Out.Date),
		Description:      t.Out.Description,
		Notes:            t.Out.Notes,
		Tags:             t.Out.TagNames,
		OutTransactionId: t.Out.ID.String(),
		InTransactionId:  t.In.ID.String(),
		CreatedAt:        calendar.FormatTime(t.Out.CreatedAt),
		UpdatedAt:        calendar.FormatTime(t.Out.UpdatedAt),
	}
}

// rate returns in / out without trailing zeros, rounded half to even to maxRateDigits significant
// digits and at most maxRateDecimals decimals. The amounts are positive and in minor units with
// these decimals. For example, 100.00 EUR that arrive as 16250 JPY have the rate 162.5. The
// computation is exact until the one rounding, because amounts have up to 16 digits, and a float64
// does not represent all of them.
func rate(out int64, outDecimals int, in int64, inDecimals int) string {
	exact := new(big.Rat).SetFrac(
		new(big.Int).Mul(big.NewInt(in), power(outDecimals)),
		new(big.Int).Mul(big.NewInt(out), power(inDecimals)))
	// The first significant digit stands before the point, at place 1 or above, or behind it.
	place := len(new(big.Int).Quo(exact.Num(), exact.Denom()).String())
	if exact.Cmp(big.NewRat(1, 1)) < 0 {
		below := func(place int) bool {
			shifted := new(big.Rat).Mul(exact, new(big.Rat).SetInt(power(1-place)))
			return shifted.Cmp(big.NewRat(1, 1)) < 0
		}
		for place = 0; place > -maxRateDecimals && below(place); {
			place--
		}
	}
	decimals := min(maxRateDigits-place, maxRateDecimals)
	scaled := new(big.Rat).Set(exact)
	if decimals >= 0 {
		scaled.Mul(scaled, new(big.Rat).SetInt(power(decimals)))
	} else {
		scaled.Quo(scaled, new(big.Rat).SetInt(power(-decimals)))
	}
	digits := halfToEven(scaled)
	if decimals < 0 {
		return digits.Mul(digits, power(-decimals)).String()
	}
	text := new(big.Rat).SetFrac(digits, power(decimals)).FloatString(decimals)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// halfToEven rounds a positive number to an integer.
func halfToEven(r *big.Rat) *big.Int {
	whole, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	half := rest.Lsh(rest, 1).Cmp(r.Denom())
	if half > 0 || half == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole
}
