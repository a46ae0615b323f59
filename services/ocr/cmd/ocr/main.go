// Command ocr reads receipts.
package main

import (
	// The image has no certificates of authorities, and a vision endpoint is verified.
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/ocr"
)

func main() { app.Main("ocr", ocr.Run, ocr.Migrations) }
