module github.com/coffer-budget/coffer/tools/prose

go 1.26.0
