export default { title: "More", signOut: "Sign out" };
