package main

import (
	"go/ast"
	"regexp"
	"strings"
)

var (
	// isSQL matches string literals that contain a statement or a part of one.
	isSQL = regexp.MustCompile(`\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|` +
		`FOR (NO KEY )?UPDATE|FOR (KEY )?SHARE)\b`)
	rowLock = regexp.MustCompile(`FOR (NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)` +
		`( OF \w+(, \w+)*)?( SKIP LOCKED| NOWAIT)?`)
	advisoryLock = regexp.MustCompile(`pg(_try)?_advisory_(xact_)?lock\(`)
	// condition is one comparison behind WHERE, AND, ON or OR.
	condition = regexp.MustCompile(`\b(WHERE|AND|ON|OR)\s+(NOT EXISTS \([^()]*\)|` +
		`EXISTS \([^()]*\)|[\w.]+\s+IS (?:NOT )?NULL|[\w.]+\s+(?:NOT )?IN \([^()]*\)|` +
		`[\w.]+\s*(?:<>|<=|>=|=|<|>)\s*(?:ANY\s*\((?:[^()]|\([^()]*\))*\)|` +
		operand + `(?:\s*[-+]\s*` + operand + `)?)|` +
		`[\w.]*(?:active|archived|accepted|revoked|used|enabled)\b)`)
	// moved matches a comparison whose limit can be moved by one.
	moved = regexp.MustCompile(`[^<>=](<=|>=|<|>)[^<>=]`)
)

// operand matches a function call, parameter, column, number or string, with an optional cast.
const operand = `(?:[\w.]+\([^()]*\)|[$@]?[\w.]+|'[^']*')(?:::[\w\[\]]+)?`

// statement mutates the text of a statement: it drops row locks, weakens advisory locks, makes
// conditions true, and moves limits. Parameters stay, so that PostgreSQL can determine their types.
func (f *finder) statement(n *ast.BasicLit) {
	text, start := n.Value, f.offset(n.Pos())
	if !isSQL.MatchString(text) {
		return
	}
	for _, at := range rowLock.FindAllStringIndex(text, -1) {
		f.add("row lock dropped", start+at[0], start+at[1], "")
	}
	for _, at := range advisoryLock.FindAllStringIndex(text, -1) {
		// Shared locks do not exclude each other.
		name := strings.TrimSuffix(text[at[0]:at[1]], "(")
		f.add("advisory lock shared", start+at[0], start+at[1], name+"_shared(")
	}
	// Conditions inside EXISTS are separate mutants, so the next match may begin inside this one.
	for {
		at := condition.FindStringSubmatchIndex(text)
		if at == nil {
			return
		}
		cond := text[at[4]:at[5]]
		f.add("condition dropped", start+at[4], start+at[5], "("+cond+" OR TRUE)")
		if op := moved.FindStringSubmatchIndex(cond); op != nil {
			symbol := cond[op[2]:op[3]]
			other := map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[symbol]
			f.add("limit moved", start+at[4]+op[2], start+at[4]+op[3], other)
		}
		text, start = text[at[3]:], start+at[3]
	}
}
