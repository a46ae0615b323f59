export default {
  title: "Sign in",
  register: "Create account",
  welcomeBack: "Welcome back",
  start: "A calm place for your money",
  toRegister: "New here?",
  toSignin: "Already have an account?",
  lengthHint: "At least 8 characters. A few random words are easy to remember.",
  invalid: "E-mail or password is wrong.",
  taken: "There is already an account with this e-mail.",
  tagline: "Every receipt read, every budget shared, every number exact.",
};
