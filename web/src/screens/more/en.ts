export default { title: "More" };
