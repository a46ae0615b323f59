-- +goose Up
CREATE TABLE wallets (id uuid PRIMARY KEY, owner_id uuid NOT NULL, name text NOT NULL, currency text NOT NULL);
CREATE TABLE wallet_balances (wallet_id uuid NOT NULL, currency text NOT NULL, amount_minor bigint NOT NULL, PRIMARY KEY (wallet_id, currency));
CREATE TABLE categories (id uuid PRIMARY KEY, owner_id uuid NOT NULL, name text NOT NULL);
CREATE TABLE receipts (id uuid PRIMARY KEY, owner_id uuid NOT NULL, file_sha256 bytea NOT NULL, content bytea NOT NULL, created_at timestamptz NOT NULL);
CREATE TABLE transactions (id uuid PRIMARY KEY, owner_id uuid NOT NULL, amount_minor bigint NOT NULL CHECK (amount_minor <> 0), description text NOT NULL, date timestamptz NOT NULL, currency text NOT NULL, wallet_id uuid NOT NULL, category_id uuid NOT NULL, receipt_id uuid, version bigint NOT NULL, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL);
CREATE TABLE monthly_totals (owner_id uuid NOT NULL, month date NOT NULL, wallet_id uuid NOT NULL, category_id uuid NOT NULL, currency text NOT NULL, income_minor bigint NOT NULL, expense_minor bigint NOT NULL, transaction_count bigint NOT NULL, PRIMARY KEY (owner_id, month, wallet_id, category_id, currency));
CREATE TABLE idempotency_keys (scope text NOT NULL, key_hash bytea NOT NULL, request_mac bytea NOT NULL, response bytea, created_at timestamptz NOT NULL DEFAULT now(), CONSTRAINT idempotency_keys_pkey PRIMARY KEY (scope, key_hash));
CREATE TABLE outbox (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL, user_id uuid NOT NULL, subject text NOT NULL, data bytea NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
