import { plural, i18n } from "../../i18n/i18n.svelte";

export default {
  title: "Sign in",
  register: "Create account",
  welcomeBack: "Welcome back",
  start: "A calm place for your money",
  toRegister: "New here?",
  toSignin: "Already have an account?",
  lengthHint: "At least 8 characters. A few random words are easy to remember.",
  unverified: "Confirm your e-mail first: a mail with the link is on its way.",
  forgot: "Forgot your password?",
  invalid: "E-mail or password is wrong.",
  taken: "There is already an account with this e-mail.",
  ended: "Your session has ended. Sign in again.",
  kept: (n: number) => plural(n, { one: "# entry on this device is not sent yet. It is encrypted, and offered after the sign-in of its user.", other: "# entries on this device are not sent yet. They are encrypted, and offered after the sign-in of their user." }),
  tooLate: "That took too long. Sign in again.",
  pending: (at: string) => `This account will be deleted on ${new Date(at).toLocaleString(i18n.locale, { dateStyle: "long", timeStyle: "short" })}. Until then you can sign in and keep it.`,
  erasing: "This account is being deleted. It cannot be restored any more.",
  keep: "Keep the account",
  late: "This sign-in is too long ago, or the deletion has begun. Sign in again.",
  certificate: "Certificate of the deletion",
  tagline: "Every receipt read, every budget shared, every number exact.",
};
