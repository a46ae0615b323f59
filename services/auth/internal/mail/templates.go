package mail

import (
	"bytes"
	"embed"
	"fmt"
	htmltemplate "html/template"
	"regexp"
	"strings"
	texttemplate "text/template"

	"github.com/google/uuid"
)

// Templates of mails. They are stored in rows of mails: never rename one.
const (
	PasswordReset     = "password_reset"
	PasswordChanged   = "password_changed"
	EmailVerification = "email_verification"
	EmailChange       = "email_change"
	EmailChanged      = "email_changed"
	Invitation        = "invitation"
	DeletionRequested = "deletion_requested"
	DeletionCanceled  = "deletion_canceled"
)

// Reports of changes of personal access tokens, second factors and identities. The types of their
// audit entries have the same names.
const (
	TokenCreated         = "token_created"
	TokenDeleted         = "token_deleted"
	TotpEnabled          = "totp_enabled"
	TotpDisabled         = "totp_disabled"
	RecoveryCodesCreated = "recovery_codes_created"
	RecoveryCodeUsed     = "recovery_code_used"
	PasskeyCreated       = "passkey_created"
	PasskeyDeleted       = "passkey_deleted"
	PasskeyCloned        = "passkey_cloned"
	OidcLinked           = "oidc_linked"
	OidcUnlinked         = "oidc_unlinked"
)

// paths are the paths of the console that the links of mails open. The token is in the fragment,
// which browsers do not send, so that no server logs it. A template that is not listed has a link
// without a token.
var paths = map[string]string{
	PasswordReset:     "/reset#",
	EmailVerification: "/verify#",
	EmailChange:       "/verify#",
	EmailChanged:      "/revert#",
	Invitation:        "/join#",
	PasswordChanged:   "/forgot",

	TokenCreated:         "/forgot",
	TokenDeleted:         "/forgot",
	TotpEnabled:          "/forgot",
	TotpDisabled:         "/forgot",
	RecoveryCodesCreated: "/forgot",
	RecoveryCodeUsed:     "/forgot",
	PasskeyCreated:       "/forgot",
	PasskeyDeleted:       "/forgot",
	PasskeyCloned:        "/forgot",
	OidcLinked:           "/forgot",
	OidcUnlinked:         "/forgot",
	DeletionRequested:    "/login",
	DeletionCanceled:     "/forgot",
}

//go:embed templates
var files embed.FS

// texts has the parts of each mail by language: subject, body and action. layout is the HTML around
// them. It contains no images and no tracking.
var (
	texts = map[string]*texttemplate.Template{
		"en": texttemplate.Must(texttemplate.ParseFS(files, "templates/en.txt")),
		"de": texttemplate.Must(texttemplate.ParseFS(files, "templates/de.txt")),
	}
	layout = htmltemplate.Must(htmltemplate.ParseFS(files, "templates/layout.html"))
)

// written are the texts of a mail.
type written struct{ subject, text, html string }

// render writes the texts of a mail in its language.
func (o *Outbox) render(due *Due) (written, error) {
	params := map[string]string{"Email": due.To}
	for name, value := range due.Params {
		if name != "NewEmail" {
			value = withoutLinks(value)
		}
		params[name] = value
	}
	parts := map[string]string{}
	for _, part := range []string{"subject", "body", "action", "footer"} {
		name := due.Template + "." + part
		if part == "footer" {
			name = part
		}
		var text bytes.Buffer
		if err := texts[due.Language].ExecuteTemplate(&text, name, params); err != nil {
			return written{}, fmt.Errorf("writing the %s of a mail: %w", part, err)
		}
		parts[part] = strings.TrimSpace(text.String())
	}
	link := o.link(due.Template, due.ID)
	var html bytes.Buffer
	err := layout.Execute(&html, map[string]any{
		"Language": due.Language, "Subject": parts["subject"],
		"Paragraphs": strings.Split(parts["body"], "\n\n"), "Link": link,
		"Action": parts["action"], "Footer": parts["footer"],
	})
	if err != nil {
		return written{}, fmt.Errorf("writing the HTML of a mail: %w", err)
	}
	text := parts["body"] + "\n\n" + parts["action"] + ":\n" + link + "\n\n-- \n" +
		parts["footer"] + "\n"
	return written{subject: parts["subject"], text: text, html: html.String()}, nil
}

func (o *Outbox) link(template string, id uuid.UUID) string {
	link := strings.TrimSuffix(o.Config.PublicURL, "/") + paths[template]
	if strings.HasSuffix(link, "#") {
		link += o.Token(id)
	}
	return link
}

// linkLike matches texts that mail programs show as links.
var linkLike = regexp.MustCompile(`(?i)://|www\.|[\pL\pN]\.\pL{2,}`)

// withoutLinks returns the name of a user without the characters of links. Otherwise a registration
// with the e-mail of a stranger would send them a link.
func withoutLinks(name string) string {
	if !linkLike.MatchString(name) {
		return name
	}
	return strings.NewReplacer(".", " ", "/", " ", ":", " ").Replace(name)
}
