package chaos

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strings"
)

const (
	// longStatement is a number of rows that a commit writes in two chunks or more.
	longStatement = 510
	// createdWallets and createdCategories are the numbers of accounts and categories that a file
	// names if its commit creates them.
	createdWallets, createdCategories = 3, 10
	// maxStatements limits the imports that create something. A user may have 500 wallets and 1000
	// categories.
	maxStatements = 100
)

type statement struct {
	owner *user
	// id is empty until a response contains it. An upload without a response may leave another
	// import, which is never committed.
	id   string
	mark string
	// number makes the amounts of its rows different from those of other files, so that no row
	// matches a transaction.
	number, rows int
	undo         bool
	creates      bool
}

// importStatement imports a file, and in one of three cases undoes the import. In another one of
// three cases the commit creates wallets and categories. It does not wait for long jobs: the
// requests continue after the last fault.
func (u *user) importStatement(ctx context.Context, random *rand.Rand) {
	statement := &statement{
		owner: u, mark: strings.TrimSuffix(u.nextMark(), ";") + " row",
		number: len(u.statements) + 1, rows: 1 + random.IntN(20),
		undo:    random.IntN(3) == 0,
		creates: len(u.statements) < maxStatements && random.IntN(3) == 0,
	}
	switch {
	case statement.creates:
		// Each account and each category has rows. More imports of this kind are undone, because a
		// kill may leave something in both jobs.
		statement.rows, statement.undo = 2*createdCategories, random.IntN(3) > 0
	case random.IntN(8) == 0:
		statement.rows = longStatement
	}
	u.statements = append(u.statements, statement)
	u.retry(ctx, statement.proceed)
}

// amount returns the amount of a row in cents.
func (s *statement) amount(row int) int64 { return -int64(1000*s.number + row) }

func (s *statement) named(kind string, n int) string {
	return fmt.Sprintf("%s %s %d", s.mark, kind, n)
}

func (s *statement) form() (form []byte, contentType string, err error) {
	var buffer bytes.Buffer
	writer := multipart.NewWriter(&buffer)
	if !s.creates {
		if err := writer.WriteField("walletId", s.owner.imports.id); err != nil {
			return nil, "", err
		}
	}
	part, err := writer.CreateFormFile("file", "statement.csv")
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write([]byte(s.file())); err != nil {
		return nil, "", err
	}
	err = writer.Close()
	return buffer.Bytes(), writer.FormDataContentType(), err
}

// file returns the file. The two kinds of files have different headings: the mapping of a committed
// import is used again for files with the same heading, and without values two of the columns have
// no meaning.
func (s *statement) file() string {
	file := "Date,Amount,Currency,Description"
	if s.creates {
		file += ",Account,Category"
	}
	for row := range s.rows {
		amount := big.NewRat(s.amount(row), 100).FloatString(2)
		file += fmt.Sprintf("\n2026-03-14,%s,EUR,%s %d", amount, s.mark, row)
		if s.creates {
			account := s.named("wallet", row%createdWallets)
			file += "," + account + "," + s.named("category", row%createdCategories)
		}
	}
	return file + "\n"
}

// proceed sends the next request for the import, and reports whether it has its final status. Each
// request can be repeated. No job may fail, because nothing that the file refers to is deleted.
func (s *statement) proceed(ctx context.Context) bool {
	user := s.owner
	if s.id == "" {
		form, contentType, err := s.form()
		if err != nil {
			user.reportf("encoding a statement: %v", err)
			return true
		}
		a, result := user.write(ctx, http.MethodPost, "/api/v1/imports", form,
			"Content-Type", contentType)
		if result == rejected {
			user.reportf("a valid statement was rejected: %s", a.raw)
			return true
		}
		s.id = a.text("import.id")
		return false
	}
	path := "/api/v1/imports/" + s.id
	reply := user.call(ctx, http.MethodGet, path, nil)
	switch status := reply.text("import.status"); {
	case reply.status != http.StatusOK:
		if reply.status == http.StatusNotFound {
			user.reportf("import %s of %s does not exist after it was acknowledged", s.id,
				user.mark)
			return true
		}
	case status == "preview":
		if _, result := user.write(ctx, http.MethodPatch, path,
			s.assignments()); result == accepted {
			user.write(ctx, http.MethodPost, path+"/commit", object{})
		}
	case status == "done" && s.undo:
		user.write(ctx, http.MethodPost, path+"/undo", object{})
	case status == "done", status == "undone":
		return true
	case status == "failed":
		user.reportf("the job of import %s of %s failed: %s", s.id, user.mark, reply.raw)
		return true
	}
	return false
}

func (s *statement) assignments() object {
	if !s.creates {
		category := s.owner.budget.category
		return object{"defaults": object{
			"walletId": s.owner.imports.id, "expenseCategoryId": category,
			"incomeCategoryId": category,
		}}
	}
	var accounts []object
	for n := range createdWallets {
		accounts = append(accounts, object{"key": s.named("wallet", n), "create": true})
	}
	return object{"accounts": accounts}
}

// checkImports requires that each row of an import is a transaction once, or that no row of an
// undone import is one. Each wallet and category that a commit created must exist once, and none
// after an undo. The other imports have a separate wallet.
func (u *user) checkImports(ctx context.Context) {
	wallets := u.named(ctx, "wallet", "wallets")
	categories := u.named(ctx, "categories", "categories")
	listed := []string{u.imports.id}
	for _, s := range u.statements {
		if !s.creates {
			continue
		}
		listed = append(listed, s.checkCreated("wallet", createdWallets, wallets)...)
		s.checkCreated("category", createdCategories, categories)
	}
	count := map[string]int{}
	for _, wallet := range listed {
		for _, t := range u.list(ctx, "/api/v1/transaction?walletId="+wallet, "transactions") {
			row := response{body: object{"t": t}}
			count[row.text("t.description")+" of "+row.text("t.amount")]++
		}
	}
	balance := new(big.Rat)
	for _, statement := range u.statements {
		for row := range statement.rows {
			amount := big.NewRat(statement.amount(row), 100)
			text := fmt.Sprintf("%s %d of %s", statement.mark, row, amount.FloatString(2))
			want := 1
			if statement.undo {
				want = 0
			} else if !statement.creates {
				balance.Add(balance, amount)
			}
			if count[text] != want {
				u.reportf("row %s of import %s (undone: %t) is there %d times",
					text, statement.id, statement.undo, count[text])
			}
			delete(count, text)
		}
	}
	for text := range count {
		u.reportf("%s: transaction %s is in no imported file", u.mark, text)
	}
	a := u.call(ctx, http.MethodGet, "/api/v1/wallet/"+u.imports.id, nil)
	if a.text("wallet.balance") != balance.FloatString(2) {
		u.reportf("%s: the wallet of imports holds %s, not %s",
			u.mark, a.text("wallet.balance"), balance.FloatString(2))
	}
}

func (u *user) named(ctx context.Context, path, list string) map[string][]string {
	ids := map[string][]string{}
	for _, o := range u.list(ctx, "/api/v1/"+path, list) {
		row := response{body: object{"o": o}}
		ids[row.text("o.name")] = append(ids[row.text("o.name")], row.text("o.id"))
	}
	return ids
}

// checkCreated requires that each of the n wallets or categories of an import exists once, or that
// none exists after its undo. It returns the ids.
func (s *statement) checkCreated(kind string, n int, named map[string][]string) (ids []string) {
	for i := range n {
		found := named[s.named(kind, i)]
		switch {
		case s.undo && len(found) > 0:
			s.owner.reportf("%s %q is left after the undo of import %s",
				kind, s.named(kind, i), s.id)
		case !s.undo && len(found) != 1:
			s.owner.reportf("%s %q of import %s is there %d times",
				kind, s.named(kind, i), s.id, len(found))
		}
		ids = append(ids, found...)
	}
	return ids
}
