-- +goose Up
-- The previous release writes no adjustments and no kinds. The constraints are not validated, because all rows fulfill them.
ALTER TABLE wallets
    ADD COLUMN kind text NOT NULL DEFAULT 'other',
    ADD CONSTRAINT wallets_kind
        CHECK (kind IN ('cash', 'checking', 'savings', 'card', 'loan', 'investment', 'asset', 'other')) NOT VALID;

ALTER TABLE transactions
    -- The bank has booked the transaction.
    ADD COLUMN cleared    boolean NOT NULL DEFAULT false,
    -- An adjustment has no category. monthly_transfers contains it beside the legs of transfers.
    ADD COLUMN adjustment boolean NOT NULL DEFAULT false,
    DROP CONSTRAINT transactions_categorized,
    ADD CONSTRAINT transactions_categorized
        CHECK ((category_id IS NULL) = (transfer_id IS NOT NULL OR split_count > 0 OR adjustment)) NOT VALID,
    ADD CONSTRAINT transactions_adjustment
        CHECK (NOT adjustment OR category_id IS NULL AND transfer_id IS NULL AND split_count = 0) NOT VALID;

-- Only Coffer's own export has adjustments, and states which transactions are not cleared.
ALTER TABLE import_rows
    ADD COLUMN adjustment     boolean NOT NULL DEFAULT false,
    ADD COLUMN uncleared      boolean NOT NULL DEFAULT false,
    -- The commit has cleared the matched transaction.
    ADD COLUMN filled_cleared boolean NOT NULL DEFAULT false;
