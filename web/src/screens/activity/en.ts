import { plural } from "../../i18n/i18n.svelte";

export default {
  text: "What happened to your account in the last year. If you do not recognize an entry, change your password.",
  older: "Show older entries",
  none: "Nothing happened yet",
  times: (n: number) => plural(n, { one: "# time", other: "# times" }),
  until: (time: string) => `until ${time}`,
  entries: {
    registered: "Account created", login_succeeded: "Signed in", login_failed: "Sign-in failed", refresh_token_reused: "An old token was used again; the session was ended",
    session_ended: "Session ended", logged_out: "Signed out", password_changed: "Password changed", password_reset: "Password set with a link from a mail", password_change_failed: "Wrong password for a new password",
    profile_changed: "Name changed", email_changed: "E-mail changed", email_change_requested: "New e-mail requested", email_confirmed: "E-mail confirmed", email_reverted: "Former e-mail restored", reauthenticated: "Identity confirmed", reauthentication_failed: "Wrong password while confirming the identity", second_factor_failed: "Wrong code of the second step", totp_enabled: "Authenticator app enabled", totp_disabled: "Authenticator app disabled", recovery_codes_created: "Recovery codes created", recovery_code_used: "Recovery code used", passkey_created: "Passkey added:", passkey_deleted: "Passkey deleted:", passkey_cloned: "Copied passkey disabled:", oidc_linked: "Sign-in linked:", oidc_unlinked: "Link of a sign-in removed:", token_created: "Access token created:", token_deleted: "Access token deleted:", email_change_failed: "Wrong password for a new e-mail", deletion_requested: "Deletion of the account requested", deletion_canceled: "Deletion of the account canceled", account_exported: "Account exported",
  } as Record<string, string>,
  aBudget: "a budget",
  aGoal: "a goal",
  quoted: (name: string) => `“${name}”`,
  roles: { viewer: "viewer", editor: "editor" },
  aMember: "a member",
  invited: (own: boolean, other: string, budget: string, role: string) => (own ? `You invited ${other} to ${budget} as ${role}` : `${other} invited you to ${budget} as ${role}`),
  ended: (email: string, budget: string, reason: string) => (reason === "expired" ? `The invitation of ${email} to ${budget} expired` : `The invitation of ${email} to ${budget} was withdrawn`),
  answered: (own: boolean, other: string, budget: string, accepted: boolean) => `${own ? other : "You"} ${accepted ? "accepted" : "declined"} the invitation to ${budget}`,
  memberChanged: (own: boolean, other: string, budget: string) => (own ? `You changed the role or share of ${other} in ${budget}` : `${other} changed your role or share in ${budget}`),
  memberRemoved: (own: boolean, self: boolean, other: string, budget: string) =>
    own ? (self ? `You removed ${other} from ${budget}` : `${other} left ${budget}`) : self ? `You left ${budget}` : `${other} removed you from ${budget}`,
};
