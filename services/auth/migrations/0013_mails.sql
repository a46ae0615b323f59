-- +goose Up
-- Mails to send, and for 30 days a log of sent ones without addresses and contents.
CREATE TABLE mails (
    id              uuid        NOT NULL CONSTRAINT mails_pkey PRIMARY KEY,
    -- NULL if the address has no account, or if that is not known yet.
    user_id         uuid        CONSTRAINT mails_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    template        text        NOT NULL CONSTRAINT mails_template_length CHECK (char_length(template) BETWEEN 1 AND 50),
    language        text        NOT NULL CONSTRAINT mails_language_length CHECK (char_length(language) = 2),
    -- A MAC of the address, for limits.
    to_mac          bytea       NOT NULL CONSTRAINT mails_to_mac_length CHECK (octet_length(to_mac) = 32),
    -- Sealed with the service key. NULL once the mail is sent, failed or dropped.
    to_sealed       bytea,
    params_sealed   bytea,
    status          text        NOT NULL CONSTRAINT mails_status_known CHECK (status IN ('queued', 'sent', 'failed', 'dropped')),
    attempts        integer     NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL,
    next_attempt_at timestamptz NOT NULL,
    -- A replica sends the mail until then.
    leased_until    timestamptz,
    -- A later mail would have no effect, because its link has expired.
    expires_at      timestamptz NOT NULL,
    -- The event of which the mail informs.
    dedupe_key      text        CONSTRAINT mails_dedupe_key UNIQUE,
    CONSTRAINT mails_sealed_while_queued CHECK ((status = 'queued') = (to_sealed IS NOT NULL))
);
CREATE INDEX mails_due ON mails (next_attempt_at) WHERE status = 'queued';
CREATE INDEX mails_to_mac ON mails (to_mac, created_at);
CREATE INDEX mails_created_at ON mails (created_at);
CREATE INDEX mails_user ON mails (user_id);

-- Links in mails. Each one works once.
CREATE TABLE mail_links (
    -- SHA-256 of the token in the link, which has 256 bits.
    hash          bytea       NOT NULL CONSTRAINT mail_links_pkey PRIMARY KEY
        CONSTRAINT mail_links_hash_length CHECK (octet_length(hash) = 32),
    kind          text        NOT NULL CONSTRAINT mail_links_kind_length CHECK (char_length(kind) BETWEEN 1 AND 50),
    user_id       uuid        CONSTRAINT mail_links_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    -- The address that received the link, or, in a link that reverts a change, the address to restore.
    email         text        NOT NULL CONSTRAINT mail_links_email_length CHECK (char_length(email) BETWEEN 3 AND 254),
    -- SHA-256 of the hash of the password that makes the link valid. NULL if a change of the password does not end it.
    password_mark bytea,
    expires_at    timestamptz NOT NULL,
    used_at       timestamptz
);
CREATE INDEX mail_links_expires_at ON mail_links (expires_at);
CREATE INDEX mail_links_user ON mail_links (user_id);

-- When the user proved to read mails to the address.
ALTER TABLE users ADD COLUMN email_verified_at timestamptz;
-- The language of mails that no request of the user causes.
ALTER TABLE users ADD COLUMN language text NOT NULL DEFAULT 'en' CONSTRAINT users_language_length CHECK (char_length(language) = 2);
