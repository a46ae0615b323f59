export default { title: "Transactions", empty: "No transactions yet" };
