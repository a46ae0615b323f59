import { plural } from "../../i18n/i18n.svelte";

export default {
  title: "Settings",
  sections: { profile: "Profile", security: "Security", activity: "Activity", preferences: "Preferences", tags: "Tags", data: "Data and API", appearance: "Appearance and language", shortcuts: "Keyboard shortcuts", about: "About" },

  passwordForEmail: "Your password, because the e-mail changes",
  taken: "Another account has this e-mail.",
  wrongPassword: "This is not your password.",
  since: (date: string) => `Member since ${date}`,

  changePassword: "Change the password",
  current: "Current password",
  fresh: "New password",
  freshHint: "At least 8 characters. A few random words are easy to remember.",
  passwordChanged: "The password is changed. All other devices are signed out.",
  othersEnd: "All other devices are signed out.",

  sessions: "Where you are signed in",
  unknownDevice: "Unknown device",
  thisDevice: "This device",
  lastUse: (ago: string) => `last used ${ago}`,
  end: "Sign out",
  endOf: (device: string) => `Sign out ${device}`,
  ended: (device: string) => `${device} is signed out`,
  everywhere: "Sign out everywhere",
  everywhereText: "All your devices need the password again. This takes effect at once.",
  onlyOthers: "Other devices",
  othersEnded: (n: number) => plural(n, { one: "# device is signed out", other: "# devices are signed out" }),
  more: "Older sessions are not shown. “Sign out everywhere” ends them too.",

  activityText: "What happened to your account in the last year. If you do not recognize an entry, change your password.",
  older: "Show older entries",
  noActivity: "Nothing happened yet",
  times: (n: number) => plural(n, { one: "# time", other: "# times" }),
  until: (time: string) => `until ${time}`,
  entries: {
    registered: "Account created", login_succeeded: "Signed in", login_failed: "Sign-in failed", refresh_token_reused: "An old token was used again; the session was ended",
    session_ended: "Session ended", logged_out: "Signed out", password_changed: "Password changed", password_change_failed: "Wrong password for a new password",
    profile_changed: "Name changed", email_changed: "E-mail changed", email_change_failed: "Wrong password for a new e-mail",
  } as Record<string, string>,
  aBudget: "a budget",
  quoted: (name: string) => `“${name}”`,
  roles: { viewer: "viewer", editor: "editor" },
  aMember: "a member",
  invited: (own: boolean, other: string, budget: string, role: string) => (own ? `You invited ${other} to ${budget} as ${role}` : `${other} invited you to ${budget} as ${role}`),
  answered: (own: boolean, other: string, budget: string, accepted: boolean) => `${own ? other : "You"} ${accepted ? "accepted" : "declined"} the invitation to ${budget}`,
  memberChanged: (own: boolean, other: string, budget: string) => (own ? `You changed the role or share of ${other} in ${budget}` : `${other} changed your role or share in ${budget}`),
  memberRemoved: (own: boolean, self: boolean, other: string, budget: string) =>
    own ? (self ? `You removed ${other} from ${budget}` : `${other} left ${budget}`) : self ? `You left ${budget}` : `${other} removed you from ${budget}`,

  dataLinks: {
    export: ["Export", "Your transactions as CSV, JSON, hledger or Beancount"],
    webhooks: ["Webhooks", "Events that Coffer sends to your own programs"],
  } as Record<string, [name: string, text: string]>,

  language: "Language",
  appearance: "Appearance",
  system: "As the system",
  light: "Light",
  dark: "Dark",
  onDevice: "These settings apply to this device.",
  keys: "Shortcuts work while no field has the focus. “?” shows this list on every screen.",

  version: "Version",
  api: "API documentation",
  apiText: "Everything that this console does, a program can do too.",
  storage: "On this device",
  storageText: "Coffer keeps the last overview and the latest 200 transactions for use without a connection. Signing out deletes them.",
};
