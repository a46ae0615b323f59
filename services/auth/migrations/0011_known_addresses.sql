-- +goose Up
-- sessions_revoked serves its queries too.
DROP INDEX sessions_revoked_at;

-- Addresses from which a user has signed in. Failures of others do not keep the user from signing in from there.
CREATE TABLE known_addresses (
    user_id      uuid        NOT NULL CONSTRAINT known_addresses_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    -- An IPv4 address, or 64 bits of IPv6.
    network      cidr        NOT NULL,
    last_used_at timestamptz NOT NULL,
    CONSTRAINT known_addresses_pkey PRIMARY KEY (user_id, network)
);
CREATE INDEX known_addresses_last_used_at ON known_addresses (last_used_at);

-- The addresses of live sessions are known.
INSERT INTO known_addresses (user_id, network, last_used_at)
SELECT user_id, network(set_masklen(ip_address::inet, CASE family(ip_address::inet) WHEN 4 THEN 32 ELSE 64 END)), max(created_at)
FROM sessions
WHERE ip_address <> '' AND revoked_at IS NULL
GROUP BY 1, 2;
