export default {
  title: "Confirm that it is you",
  text: "You signed in a while ago. Your password protects this change.",
  confirm: "Continue",
  wrong: "This is not your password.",
};
