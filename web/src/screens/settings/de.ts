import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  title: "Einstellungen",
  sections: { profile: "Profil", security: "Sicherheit", activity: "Aktivität", preferences: "Vorgaben", tags: "Tags", data: "Daten und API", appearance: "Aussehen und Sprache", shortcuts: "Tastenkürzel", about: "Über Coffer" },

  passwordForEmail: "Dein Passwort, weil sich die E-Mail ändert",
  taken: "Ein anderes Konto hat diese E-Mail.",
  wrongPassword: "Das ist nicht dein Passwort.",
  since: (date) => `Dabei seit ${date}`,

  changePassword: "Passwort ändern",
  current: "Bisheriges Passwort",
  fresh: "Neues Passwort",
  freshHint: "Mindestens 8 Zeichen. Ein paar zufällige Wörter sind leicht zu merken.",
  passwordChanged: "Das Passwort ist geändert. Alle anderen Geräte sind abgemeldet.",
  othersEnd: "Alle anderen Geräte werden abgemeldet.",

  sessions: "Wo du angemeldet bist",
  unknownDevice: "Unbekanntes Gerät",
  thisDevice: "Dieses Gerät",
  lastUse: (ago) => `zuletzt ${ago}`,
  end: "Abmelden",
  endOf: (device) => `${device} abmelden`,
  ended: (device) => `${device} ist abgemeldet`,
  everywhere: "Überall abmelden",
  everywhereText: "Alle deine Geräte brauchen wieder das Passwort. Das gilt sofort.",
  onlyOthers: "Andere Geräte",
  othersEnded: (n) => plural(n, { one: "# Gerät ist abgemeldet", other: "# Geräte sind abgemeldet" }),
  more: "Ältere Sitzungen werden nicht gezeigt. „Überall abmelden“ beendet auch sie.",

  activityText: "Was im letzten Jahr mit deinem Konto geschah. Wenn du einen Eintrag nicht erkennst, ändere dein Passwort.",
  older: "Ältere Einträge zeigen",
  noActivity: "Noch ist nichts geschehen",
  times: (n) => plural(n, { one: "# Mal", other: "# Mal" }),
  until: (time) => `bis ${time}`,
  entries: {
    registered: "Konto angelegt", login_succeeded: "Angemeldet", login_failed: "Anmeldung gescheitert", refresh_token_reused: "Ein altes Token wurde noch einmal benutzt; die Sitzung wurde beendet",
    session_ended: "Sitzung beendet", logged_out: "Abgemeldet", password_changed: "Passwort geändert", password_change_failed: "Falsches Passwort beim Ändern des Passworts",
    profile_changed: "Name geändert", email_changed: "E-Mail geändert", email_change_failed: "Falsches Passwort beim Ändern der E-Mail",
  },
  aBudget: "einem Budget",
  quoted: (name) => `„${name}“`,
  roles: { viewer: "Leser", editor: "Bearbeiter" },
  aMember: "ein Mitglied",
  invited: (own, other, budget, role) => (own ? `Du hast ${other} zu ${budget} eingeladen, als ${role}` : `${other} hat dich zu ${budget} eingeladen, als ${role}`),
  answered: (own, other, budget, accepted) => `${own ? `${other} hat` : "Du hast"} die Einladung zu ${budget} ${accepted ? "angenommen" : "abgelehnt"}`,
  memberChanged: (own, other, budget) => (own ? `Du hast Rolle oder Anteil geändert: ${other} in ${budget}` : `${other} hat deine Rolle oder deinen Anteil an ${budget} geändert`),
  memberRemoved: (own, self, other, budget) =>
    own ? (self ? `Du hast ${other} aus ${budget} entfernt` : `${other} hat ${budget} verlassen`) : self ? `Du hast ${budget} verlassen` : `${other} hat dich aus ${budget} entfernt`,

  dataLinks: {
    export: ["Export", "Deine Buchungen als CSV, JSON, hledger oder Beancount"],
    webhooks: ["Webhooks", "Ereignisse, die Coffer an deine Programme sendet"],
  },

  language: "Sprache",
  appearance: "Aussehen",
  system: "Wie das System",
  light: "Hell",
  dark: "Dunkel",
  onDevice: "Diese Einstellungen gelten für dieses Gerät.",
  keys: "Tastenkürzel wirken, solange kein Feld den Fokus hat. „?“ zeigt diese Liste überall.",

  version: "Version",
  api: "API-Dokumentation",
  apiText: "Alles, was diese Oberfläche kann, kann auch ein Programm.",
  storage: "Auf diesem Gerät",
  storageText: "Coffer behält die letzte Übersicht und die neuesten 200 Buchungen, auch ohne Verbindung. Die Abmeldung löscht sie.",
};

export default de;
