import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  text: "Was im letzten Jahr mit deinem Konto geschah. Wenn du einen Eintrag nicht erkennst, ändere dein Passwort.",
  older: "Ältere Einträge zeigen",
  none: "Noch ist nichts geschehen",
  times: (n) => plural(n, { one: "# Mal", other: "# Mal" }),
  until: (time) => `bis ${time}`,
  entries: {
    registered: "Konto angelegt", login_succeeded: "Angemeldet", login_failed: "Anmeldung gescheitert", refresh_token_reused: "Ein altes Token wurde noch einmal benutzt; die Sitzung wurde beendet",
    session_ended: "Sitzung beendet", logged_out: "Abgemeldet", password_changed: "Passwort geändert", password_reset: "Passwort mit einem Link aus einer Mail gesetzt", password_change_failed: "Falsches Passwort beim Ändern des Passworts",
    profile_changed: "Name geändert", email_changed: "E-Mail geändert", email_change_requested: "Neue E-Mail angefordert", email_confirmed: "E-Mail bestätigt", email_reverted: "Frühere E-Mail wiederhergestellt", reauthenticated: "Identität bestätigt", reauthentication_failed: "Falsches Passwort beim Bestätigen der Identität", second_factor_failed: "Falscher Code im zweiten Schritt", totp_enabled: "Authentifizierungs-App eingerichtet", totp_disabled: "Authentifizierungs-App abgeschaltet", recovery_codes_created: "Wiederherstellungscodes erzeugt", recovery_code_used: "Wiederherstellungscode benutzt", passkey_created: "Passkey hinzugefügt:", passkey_deleted: "Passkey gelöscht:", passkey_cloned: "Kopierter Passkey gesperrt:", oidc_linked: "Anmeldung verknüpft:", oidc_unlinked: "Verknüpfung entfernt:", token_created: "Zugriffstoken angelegt:", token_deleted: "Zugriffstoken gelöscht:", email_change_failed: "Falsches Passwort beim Ändern der E-Mail", deletion_requested: "Löschung des Kontos angefordert", deletion_canceled: "Löschung des Kontos abgebrochen", account_exported: "Benutzerkonto exportiert",
  },
  aBudget: "einem Budget",
  aGoal: "einem Sparziel",
  quoted: (name) => `„${name}“`,
  roles: { viewer: "Leser", editor: "Bearbeiter" },
  aMember: "ein Mitglied",
  invited: (own, other, budget, role) => (own ? `Du hast ${other} zu ${budget} eingeladen, als ${role}` : `${other} hat dich zu ${budget} eingeladen, als ${role}`),
  ended: (email, budget, reason) => `Die Einladung von ${email} zu ${budget} ${reason === "expired" ? "ist abgelaufen" : "wurde zurückgezogen"}`,
  answered: (own, other, budget, accepted) => `${own ? `${other} hat` : "Du hast"} die Einladung zu ${budget} ${accepted ? "angenommen" : "abgelehnt"}`,
  memberChanged: (own, other, budget) => (own ? `Du hast Rolle oder Anteil geändert: ${other} in ${budget}` : `${other} hat deine Rolle oder deinen Anteil an ${budget} geändert`),
  memberRemoved: (own, self, other, budget) =>
    own ? (self ? `Du hast ${other} aus ${budget} entfernt` : `${other} hat ${budget} verlassen`) : self ? `Du hast ${budget} verlassen` : `${other} hat dich aus ${budget} entfernt`,
};

export default de;
