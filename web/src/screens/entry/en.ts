export default { title: "Welcome" };
