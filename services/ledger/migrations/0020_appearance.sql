-- +goose Up
-- How clients show a wallet or a category. An empty text means that the owner set none.
ALTER TABLE wallets
    ADD COLUMN color    text NOT NULL DEFAULT '' CONSTRAINT wallets_color CHECK (color ~ '^(#[0-9A-Fa-f]{6})?$'),
    ADD COLUMN icon     text NOT NULL DEFAULT '' CONSTRAINT wallets_icon_length CHECK (octet_length(icon) <= 16),
    -- The place in the list of wallets. Wallets without one follow those that have one.
    ADD COLUMN position integer CONSTRAINT wallets_position_range CHECK (position BETWEEN 0 AND 1000000);
ALTER TABLE categories
    ADD COLUMN color text NOT NULL DEFAULT '' CONSTRAINT categories_color CHECK (color ~ '^(#[0-9A-Fa-f]{6})?$'),
    ADD COLUMN icon  text NOT NULL DEFAULT '' CONSTRAINT categories_icon_length CHECK (octet_length(icon) <= 16),
    -- The transactions for which clients offer the category.
    ADD COLUMN kind  text NOT NULL DEFAULT '' CONSTRAINT categories_kind CHECK (kind IN ('', 'expense', 'income', 'both'));
-- The order of the list of wallets: 2147483647 stands for no position.
CREATE INDEX wallets_list ON wallets (owner_id, (coalesce(position, 2147483647)), id DESC);
