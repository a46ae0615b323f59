export default {
  title: "Settings",
  language: "Language",
  appearance: "Appearance",
  system: "System",
  light: "Light",
  dark: "Dark",
  signOut: "Sign out",
};
