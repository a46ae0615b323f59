module github.com/coffer-budget/coffer/deploy/local

go 1.26.0

require github.com/coffer-budget/coffer/proto v0.0.0
require github.com/coffer-budget/coffer/internal v0.0.0
require github.com/coffer-budget/coffer/services/auth v0.0.0
require github.com/coffer-budget/coffer/services/ledger v0.0.0
require github.com/coffer-budget/coffer/services/budget v0.0.0
require github.com/coffer-budget/coffer/services/ocr v0.0.0
require github.com/coffer-budget/coffer/gateway v0.0.0

replace github.com/coffer-budget/coffer/proto => ../../proto
replace github.com/coffer-budget/coffer/internal => ../../internal
replace github.com/coffer-budget/coffer/services/auth => ../../services/auth
replace github.com/coffer-budget/coffer/services/ledger => ../../services/ledger
replace github.com/coffer-budget/coffer/services/budget => ../../services/budget
replace github.com/coffer-budget/coffer/services/ocr => ../../services/ocr
replace github.com/coffer-budget/coffer/gateway => ../../gateway
