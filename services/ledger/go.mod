module github.com/coffer-budget/coffer/services/ledger

go 1.26.0

require github.com/coffer-budget/coffer/proto v0.0.0
require github.com/coffer-budget/coffer/internal v0.0.0

replace github.com/coffer-budget/coffer/proto => ../../proto
replace github.com/coffer-budget/coffer/internal => ../../internal
