export default {
  forgot: {
    title: "Forgot your password?",
    text: "Enter the e-mail of your account. You get a mail with a link that sets a new password.",
    action: "Send the mail",
    done: (email: string) => `If ${email} has an account, a mail is on its way. Its link works once, within 30 minutes. Look into the spam folder, too.`,
  },
  reset: {
    title: "Set a new password",
    text: "It replaces the old password, and signs out all devices.",
    password: "New password",
    action: "Set the password",
    done: "The new password is set. Sign in with it.",
  },
  expired: "This link was used before, or has expired.",
  another: "Get another link",
  unavailable: "This Coffer does not send mails. Ask the person who runs it.",
  signin: "To the sign-in",
};
