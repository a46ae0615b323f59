export default { title: "Page not found", text: "There is nothing at this address.", home: "Go to Home" };
