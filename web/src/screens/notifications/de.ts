import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  title: "Mitteilungen",
  empty: "Nichts Neues",
  emptyText: "Hinweise zu Budgets und Antworten auf Einladungen erscheinen hier.",
  noUnread: "Alles gelesen",
  noUnreadText: "Neue Mitteilungen erscheinen hier sofort.",
  filter: "Anzeigen",
  unread: "Ungelesen",
  unreadCount: (n) => plural(n, { one: "# ungelesen", other: "# ungelesen" }),
  readAll: "Alle gelesen",
  today: "Heute",
  earlier: "Früher",
  markRead: "Als gelesen markieren",
  markUnread: "Als ungelesen markieren",
  remove: "Mitteilung löschen",
  removed: "Die Mitteilung wurde gelöscht",
  someone: "Jemand",

  threshold: (budget, percentage) => `${budget} hat ${percentage} erreicht`,
  spentOf: (spent, limit) => `${spent} von ${limit} ausgegeben`,
  deleted: (budget) => `${budget} wurde gelöscht`,
  invited: (owner, budget) => `${owner} möchte ${budget} mit dir teilen`,
  joined: (owner, budget) => `Du hast die Einladung von ${owner} zu ${budget} angenommen`,
  closed: (budget) => `Die Einladung zu ${budget} ist erledigt`,
  closedText: "Du hast abgelehnt oder verlassen, oder sie wurde zurückgezogen.",
  accepted: (member, budget) => `${member} hat deine Einladung zu ${budget} angenommen`,
  expired: (email, budget) => `Die Einladung von ${email} zu ${budget} ist ohne Antwort abgelaufen`,
  declined: (member, budget) => `${member} hat deine Einladung zu ${budget} abgelehnt`,
  left: (member, budget) => `${member} hat ${budget} verlassen`,
  updated: (budget) => `Deine Mitgliedschaft bei ${budget} wurde geändert`,
  terms: (role, share) => (share ? `${role}, Anteil ${share}` : role),
  removedYou: (budget) => `${budget} ist nicht mehr mit dir geteilt`,
  removedMember: (member, budget) => `${member} ist nicht mehr Mitglied von ${budget}`,
  roles: { viewer: "Du kannst es ansehen", editor: "Du kannst es ansehen und ändern" },
  imported: (file) => `Der Import von ${file} ist fertig`,
  booked: (n) => plural(n, { one: "# neue Buchung", other: "# neue Buchungen" }),
  importFailed: (file) => `Der Import von ${file} ist fehlgeschlagen`,
  unknown: (type) => `Ereignis ${type}`,
};

export default de;
