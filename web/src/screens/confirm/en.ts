export default {
  title: "Confirm that it is you",
  text: "You signed in a while ago. This change needs a new confirmation.",
  confirm: "Continue",
  again: "Sign in again, and then repeat the change.",
  provider: (label: string) => `Sign in with ${label}`,
  passkey: "Use a passkey",
  ways: { password: "Use the password", code: "Use a code of the app", recoveryCode: "Use a recovery code" },
  wrong: "This is not your password.",
};
