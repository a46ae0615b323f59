import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  pendingEmail: (email) => `Eine Mail ging an ${email}. Die Adresse ändert sich, sobald du ihren Link öffnest.`,
  unconfirmed: "Deine E-Mail ist nicht bestätigt. Bis dahin kannst du niemanden einladen, keine Zugriffstoken anlegen und dein Konto nicht exportieren.",
  sendConfirmation: "Link senden",
  confirmationLimit: "Heute wurden fünf Mails gesendet. Schau in den Spam-Ordner oder versuche es morgen wieder.",
  confirmationSent: (email) => `Eine Mail ist unterwegs an ${email}.`,
  title: "Einstellungen",
  sections: { profile: "Profil", security: "Sicherheit", activity: "Aktivität", preferences: "Vorgaben", tags: "Tags", data: "Daten und API", appearance: "Aussehen und Sprache", shortcuts: "Tastenkürzel", about: "Über Coffer" },

  passwordForEmail: "Dein Passwort, weil sich die E-Mail ändert",
  taken: "Ein anderes Konto hat diese E-Mail.",
  wrongPassword: "Das ist nicht dein Passwort.",
  since: (date) => `Dabei seit ${date}`,

  sessions: "Wo du angemeldet bist",
  unknownDevice: "Unbekanntes Gerät",
  thisDevice: "Dieses Gerät",
  lastUse: (ago) => `zuletzt ${ago}`,
  endOf: (device) => `${device} abmelden`,
  ended: (device) => `${device} ist abgemeldet`,
  everywhere: "Überall abmelden",
  everywhereText: "Alle deine Geräte brauchen wieder das Passwort. Das gilt sofort.",
  onlyOthers: "Andere Geräte",
  othersEnded: (n) => plural(n, { one: "# Gerät ist abgemeldet", other: "# Geräte sind abgemeldet" }),
  more: "Ältere Sitzungen werden nicht gezeigt. „Überall abmelden“ beendet auch sie.",

  dataLinks: {
    export: ["Export", "Deine Buchungen als Datei, oder alles, was Coffer über dich speichert"],
    tokens: ["Zugriffstoken", "Was Skripte und andere Programme in deinem Konto dürfen"],
    webhooks: ["Webhooks", "Ereignisse, die Coffer an deine Programme sendet"],
  },

  language: "Sprache",
  appearance: "Aussehen",
  system: "Wie das System",
  light: "Hell",
  dark: "Dunkel",
  onDevice: "Diese Einstellungen gelten für dieses Gerät.",

  version: "Version",
  apiText: "Alles, was diese Oberfläche kann, kann auch ein Programm.",
  storage: "Auf diesem Gerät",
  storageText: "Coffer behält die letzte Übersicht und die neuesten 200 Buchungen, auch ohne Verbindung, und verschlüsselt noch nicht gesendete Buchungen. Die Abmeldung löscht alles.",
};

export default de;
