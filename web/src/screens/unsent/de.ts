import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  waiting: "Wartet auf die Verbindung",
  waitingOld: "Vor mehr als einem Tag erfasst. Bitte prüfen, ob sie schon gebucht ist.",
  waitingEarlier: "Vor deiner Anmeldung erfasst. Bitte prüfen, ob sie schon gebucht ist.",
  waitingFiles: (names) => `Gebucht. Noch anzuhängen: ${names}`,
  fileRejected: (name, reason) => `Gebucht, aber ${name} wurde nicht angehängt: ${reason}`,
  unreadable: (n) => plural(n, { one: "# Buchung auf diesem Gerät ist nicht mehr lesbar, weil der Server einen neuen Schlüssel hat.", other: "# Buchungen auf diesem Gerät sind nicht mehr lesbar, weil der Server einen neuen Schlüssel hat." }),
  earlier: (n) => plural(n, { one: "# frühere Buchung ist noch nicht gesendet", other: "# frühere Buchungen sind noch nicht gesendet" }),
  earlierText: "Du hast sie ohne Verbindung erfasst, bevor du dich neu angemeldet hast. Niemand sonst konnte sie lesen oder senden.",
  send: "Senden",
  sendAll: "Alle senden",
  discard: "Verwerfen",
  discardAll: "Alle verwerfen",
};

export default de;
