// Command ocr reads receipts.
package main

import (
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/services/ocr"
)

func main() { app.Main("ocr", ocr.Run, ocr.Migrations) }
