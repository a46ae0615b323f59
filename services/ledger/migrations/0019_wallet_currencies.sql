-- +goose Up
-- A wallet holds at most 50 currencies. The trigger runs for the first transaction of a wallet in a currency only, because a
-- later one updates the balance. It locks the wallet before it counts, so that simultaneous transactions in different
-- currencies see each other's balances. Wallets that have more already keep them.
-- +goose StatementBegin
CREATE FUNCTION limit_wallet_currencies() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM wallets WHERE owner_id = NEW.owner_id AND id = NEW.wallet_id FOR NO KEY UPDATE;
	IF (SELECT count(*) FROM wallet_balances WHERE owner_id = NEW.owner_id AND wallet_id = NEW.wallet_id) > 50 THEN
		RAISE EXCEPTION 'a wallet holds at most 50 currencies'
			USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_balances_currency_count';
	END IF;
	RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER wallet_balances_currency_count
	AFTER INSERT ON wallet_balances FOR EACH ROW EXECUTE FUNCTION limit_wallet_currencies();
