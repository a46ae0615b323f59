export default { title: "Home", latest: "Latest", empty: "No transactions yet" };
