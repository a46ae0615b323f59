package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

type mutant struct {
	file string
	line int
	kind string
	// source[from:to] becomes text.
	from, to  int
	old, text string
}

// String returns the line of the mutant in the list, which the flag -match selects from.
func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s -> %s",
		m.file, m.line, m.kind, oneLine(m.old), oneLine(m.text))
}

func (m mutant) apply(source []byte) []byte {
	return slices.Concat(source[:m.from], []byte(m.text), source[m.to:])
}

// oneLine replaces each sequence of white space with a space, so that a mutant is printed in one
// line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "(nothing)"
	}
	return s
}

func find(dir string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	// A package is a folder. Its subfolders are separate packages.
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := findIn(file, source)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// finder collects the mutants of one file. Its methods are named after the syntax that they
// inspect.
type finder struct {
	file   string
	source []byte
	set    *token.FileSet
	found  []mutant
}

func findIn(file string, source []byte) ([]mutant, error) {
	finder := &finder{file: file, source: source, set: token.NewFileSet()}
	parsed, err := parser.ParseFile(finder.set, file, source, 0)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", file, err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch node := n.(type) {
		case *ast.ImportSpec:
			// Import paths are string literals, but no SQL.
			return false
		case *ast.IfStmt:
			finder.check(node)
		case *ast.CaseClause:
			finder.caseCheck(node)
		case *ast.CallExpr:
			finder.call(node)
		case *ast.AssignStmt:
			finder.lock(node)
		case *ast.BinaryExpr:
			finder.comparison(node)
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				finder.statement(node)
			}
		}
		return true
	})
	slices.SortStableFunc(finder.found, func(a, b mutant) int { return a.from - b.from })
	return finder.found, nil
}

func (f *finder) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *finder) add(kind string, from, to int, text string) {
	f.found = append(f.found, mutant{
		file: f.file, line: 1 + strings.Count(string(f.source[:from]), "\n"), kind: kind,
		from: from, to: to,
		old: string(f.source[from:to]), text: text,
	})
}

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

// checking matches the names of functions whose error is a decision, such as an ownership check,
// and not a failure.
var checking = regexp.MustCompile(`(?i)^(own|check|verif|allow|may|can|valid|admit|enter|` +
	`claim|replay|limit|require)|lock|own(s|er|ed)?$|expired`)

// check disables an if statement whose body ends with return, continue or break. Statements that
// only return the error of a failed call are skipped, unless the name of the called function
// matches checking.
func (f *finder) check(n *ast.IfStmt) {
	if !leaves(n.Body) {
		return
	}
	if isFailure(n.Cond) && !callsChecking(n.Init) {
		return
	}
	f.add("check removed", f.offset(n.Cond.Pos()), f.offset(n.Cond.End()),
		"false && ("+f.text(n.Cond)+")")
}

// caseCheck disables such a case of a switch without a tag.
func (f *finder) caseCheck(n *ast.CaseClause) {
	// Only Boolean cases are checks. A case of several expressions would need several mutants.
	if len(n.List) != 1 || !isCondition(n.List[0]) || isFailure(n.List[0]) ||
		!leaves(&ast.BlockStmt{List: n.Body}) {
		return
	}
	f.add("case removed", f.offset(n.List[0].Pos()), f.offset(n.List[0].End()),
		"false && ("+f.text(n.List[0])+")")
}

// isCondition reports whether a case is a Boolean expression, and not a value of a switch with a
// tag.
func isCondition(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.LAND || e.Op == token.LOR ||
			e.Op.Precedence() == token.EQL.Precedence()
	case *ast.UnaryExpr:
		return e.Op == token.NOT
	}
	return false
}

func leaves(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	switch body.List[len(body.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

func isFailure(cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ {
		return false
	}
	// By convention, the names of errors begin with err.
	left, ok := b.X.(*ast.Ident)
	right, isIdent := b.Y.(*ast.Ident)
	return ok && isIdent && right.Name == "nil" &&
		strings.HasPrefix(strings.ToLower(left.Name), "err")
}

// callsChecking reports whether the statement before a condition calls a function that decides
// something.
func callsChecking(init ast.Stmt) bool {
	assign, ok := init.(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return false
	}
	call, ok := assign.Rhs[0].(*ast.CallExpr)
	return ok && checking.MatchString(calledName(call))
}

func calledName(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// lock removes the call of a function that only locks.
func (f *finder) lock(n *ast.AssignStmt) {
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		return
	}
	// Such a function returns only an error, so nil can take its place.
	call, ok := n.Rhs[0].(*ast.CallExpr)
	if ok && strings.Contains(strings.ToLower(calledName(call)), "lock") {
		f.add("lock removed", f.offset(call.Pos()), f.offset(call.End()), "error(nil)")
	}
}

// call reverses a comparison of times.
func (f *finder) call(n *ast.CallExpr) {
	selector, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || len(n.Args) != 1 {
		return
	}
	// Methods of time.Time only: time.After is a function of the package.
	if other, ok := map[string]string{
		"Before": "After", "After": "Before",
	}[selector.Sel.Name]; ok && !isPackage(selector.X) {
		f.add("expiry reversed", f.offset(selector.Sel.Pos()), f.offset(selector.Sel.End()), other)
	}
}

// isPackage reports whether a selector's left side is a package with a function of that name, and
// not a time.
func isPackage(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && (id.Name == "time" || id.Name == "context")
}

// limit matches comparisons with a limit, a size or a time.
var limit = regexp.MustCompile(`(?i)max|most|limit|len\(|count|total|expire|until|age|now|ttl`)

// comparison moves a limit by one.
func (f *finder) comparison(n *ast.BinaryExpr) {
	other, ok := map[token.Token]string{
		token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	}[n.Op]
	if ok && limit.MatchString(f.text(n)) {
		from := f.offset(n.OpPos)
		f.add("limit moved", from, from+len(n.Op.String()), other)
	}
}
