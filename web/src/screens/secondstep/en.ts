export default {
  title: "One more step",
  code: "Code of your authenticator app",
  codeHint: "6 digits, which change every 30 seconds",
  wrongCode: "This code is wrong or was used. Wait for the next one.",
  useRecovery: "No access to the app? Use a recovery code",
  recoveryCode: "Recovery code",
  recoveryHint: "10 letters and digits, from the list that you stored when you set up the app",
  wrongRecovery: "This code is wrong or was used.",
  useCode: "Use a code of the app",
  lostBoth: "No recovery code left? The person who runs this Coffer can disable the second step for you.",
  submit: "Sign in",
};
