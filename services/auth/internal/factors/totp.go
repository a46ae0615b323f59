package factors

import (
	"fmt"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	issuer = "Coffer"
	// secretSize is the size of a secret in bytes, as RFC 4226 recommends.
	secretSize = 20
	// period is the length of a step. Codes of the steps before and after the present one are
	// accepted, because clocks differ.
	period = 30
	skew   = 1
	// quiet is the margin of a QR code in modules, as ISO 18004 requires.
	quiet = 4
)

// secret is a new secret, as the user sees it.
type secret struct{ uri, secret, svg string }

// newSecret returns a secret of 160 bits. The hash is SHA-1, because authenticator apps support it.
func newSecret(account string) (secret, error) {
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: issuer, AccountName: account, SecretSize: secretSize, Period: period,
	})
	if err != nil {
		return secret{}, fmt.Errorf("generating a TOTP secret: %w", err)
	}
	svg, err := qrSVG(key.URL())
	return secret{uri: key.URL(), secret: key.Secret(), svg: svg}, err
}

// qrSVG returns a QR code as an SVG image whose unit is a module. Each run of dark modules in a row
// is a rectangle.
func qrSVG(text string) (string, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", fmt.Errorf("encoding a QR code: %w", err)
	}
	size := code.Bounds().Dx()
	isDark := func(x, y int) bool {
		if x >= size {
			return false
		}
		red, _, _, _ := code.At(x, y).RGBA()
		return red == 0
	}
	var path strings.Builder
	for y := range size {
		start := -1
		for x := range size + 1 {
			switch {
			case isDark(x, y) && start < 0:
				start = x
			case !isDark(x, y) && start >= 0:
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", start+quiet, y+quiet, x-start, x-start)
				start = -1
			}
		}
	}
	side := size + 2*quiet
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" `+
		`shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%dv%dH0z"/><path d="%s"/></svg>`,
		side, side, side, side, path.String()), nil
}

// matchingStep returns the step whose code was given, and reports whether there is one: the present
// step, the one before or the one after.
func matchingStep(secret, code string, now time.Time) (step int64, right bool) {
	present := now.Unix() / period
	options := hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}
	for step := present - skew; step <= present+skew && secret != ""; step++ {
		// An error means that the code has another length, or that the secret is malformed.
		ok, err := hotp.ValidateCustom(digits(code), uint64(step), secret, options)
		if err == nil && ok {
			return step, true
		}
	}
	return 0, false
}

// digits returns a code without the spaces with which apps show it.
func digits(code string) string { return strings.ReplaceAll(code, " ", "") }

// CheckCode returns the problem of the code of an app, or nil.
func CheckCode(field, code string) *apierr.Field {
	isOther := func(r rune) bool { return r < '0' || r > '9' }
	if code := digits(code); len(code) != 6 || strings.ContainsFunc(code, isOther) {
		return &apierr.Field{Name: field, Message: "must have 6 digits"}
	}
	return nil
}
