// This example registers a user, creates an expense and prints the wallet's balance. The argument is the URL of the Coffer, by default
// http://localhost:8080.
import { client, successful } from "./client.js";

const url = process.argv[2] ?? "http://localhost:8080";
const email = `${crypto.randomUUID()}@example.com`;
const password = "correct horse battery staple";

const anonymous = client(url);
successful(await anonymous.POST("/api/v1/auth/register", { body: { name: "Ada", email, password } }));
const { accessToken } = successful(await anonymous.POST("/api/v1/auth/login", { body: { email, password } }));

const ada = client(url, accessToken);
const { wallet } = successful(await ada.POST("/api/v1/wallet", { body: { name: "Cash", currency: "EUR", balance: 250 } }));
const { category } = successful(await ada.POST("/api/v1/categories", { body: { name: "Food" } }));

// With an Idempotency-Key a request can be repeated safely if its response was lost. The second request has no effect.
const header = { "Idempotency-Key": crypto.randomUUID() };
const date = new Date().toISOString().slice(0, 10);
for (let i = 0; i < 2; i++) {
  successful(
    await ada.POST("/api/v1/transaction", {
      params: { header },
      body: { amount: 12.3, type: "expense", currency: "EUR", date, description: "Lunch", walletId: wallet.id, categoryId: category.id },
    }),
  );
}
// A script keeps a personal access token that may do no more than it needs, and no password.
const { token } = successful(await ada.POST("/api/v1/auth/tokens", { body: { name: "Example", scopes: ["read"] } }));
const script = client(url, token);
const after = successful(await script.GET("/api/v1/wallet/{id}", { params: { path: { id: wallet.id } } }));
console.log(after.wallet.balance.toFixed(2));
