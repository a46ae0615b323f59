package test

// reconciledWallet adjusts and reconciles the wallet with the most transactions.
func reconciledWallet(c *costRun) []worstRequest {
	path := "/api/v1/wallet/" + c.ids["wallet"] + "/reconciliations?adjust=true"
	statement := object{"date": "2026-04-01", "balance": 1}
	return one("adjusted", func() response { return c.u.post(path, statement) })
}

// deletedReconciliation deletes the only reconciliation of a wallet.
func deletedReconciliation(c *costRun) []worstRequest {
	path := "/api/v1/wallet/" + c.u.wallet("EUR", "0") + "/reconciliations"
	made := c.u.post(path, object{"date": "2026-03-31", "balance": 0}).created("WALLET_RECONCILED")
	path += "/" + made.text("reconciliation.id")
	return one("latest", func() response { return c.u.del(path) })
}
