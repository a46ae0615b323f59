import { plural } from "../../i18n/i18n.svelte";

export default {
  pendingEmail: (email: string) => `A mail was sent to ${email}. The address changes when you open its link.`,
  unconfirmed: "Your e-mail is not confirmed. Until then you cannot invite others, create access tokens or export your account.",
  sendConfirmation: "Send the link",
  confirmationLimit: "Five mails were sent today. Look into the spam folder, or try again tomorrow.",
  confirmationSent: (email: string) => `A mail is on its way to ${email}.`,
  title: "Settings",
  sections: { profile: "Profile", security: "Security", activity: "Activity", preferences: "Preferences", tags: "Tags", data: "Data and API", appearance: "Appearance and language", shortcuts: "Keyboard shortcuts", about: "About" },

  passwordForEmail: "Your password, because the e-mail changes",
  taken: "Another account has this e-mail.",
  wrongPassword: "This is not your password.",
  since: (date: string) => `Member since ${date}`,

  sessions: "Where you are signed in",
  unknownDevice: "Unknown device",
  thisDevice: "This device",
  lastUse: (ago: string) => `last used ${ago}`,
  endOf: (device: string) => `Sign out ${device}`,
  ended: (device: string) => `${device} is signed out`,
  everywhere: "Sign out everywhere",
  everywhereText: "All your devices need the password again. This takes effect at once.",
  onlyOthers: "Other devices",
  othersEnded: (n: number) => plural(n, { one: "# device is signed out", other: "# devices are signed out" }),
  more: "Older sessions are not shown. “Sign out everywhere” ends them too.",

  dataLinks: {
    export: ["Export", "Your transactions as a file, or all of your account"],
    tokens: ["Access tokens", "What scripts and other programs may do in your account"],
    webhooks: ["Webhooks", "Events that Coffer sends to your own programs"],
  },

  language: "Language",
  appearance: "Appearance",
  system: "As the system",
  light: "Light",
  dark: "Dark",
  onDevice: "These settings apply to this device.",

  version: "Version",
  apiText: "Everything that this console does, a program can do too.",
  storage: "On this device",
  storageText: "Coffer keeps the last overview and the latest 200 transactions for use without a connection, and encrypted entries that are not sent yet. Signing out deletes all of it.",
};
