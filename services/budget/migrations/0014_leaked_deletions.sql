-- +goose Up
-- An earlier release sent the contents of a deleted budget also to users whose invitation was pending: notifications and webhook
-- deliveries hold its limit, wallet, categories and dates. This migration deletes the copies of users without evidence of an
-- accepted invitation. The deletion of the budget removed its memberships, so the only evidence is the owner's notification of the
-- user's last answer, and the user's own notifications of a later invitation or removal.
--
-- Notifications are encoded as google.protobuf.Any. Strings of 36 and 8 characters follow their field's tag and length: the
-- budget's id is 0a24 in each of these messages; in InvitationAnswered the member's id is 2224, directly before the status, 2a08.
WITH events AS MATERIALIZED (
    SELECT id, user_id, type, data, created_at, substring(data FROM position('\x0a24'::bytea IN data) + 2 FOR 36) AS budget
    FROM notifications
    WHERE type IN ('budget.v1.budget.deleted', 'budget.v1.invitation.sent', 'budget.v1.invitation.answered', 'budget.v1.member.removed')
), answers AS (
    SELECT DISTINCT ON (budget, member) budget, member, status, created_at
    FROM (
        SELECT budget, created_at, substring(data FROM at - 36 FOR 36) AS member, substring(data FROM at + 2 FOR 8) AS status
        FROM (
            SELECT budget, created_at, data,
                greatest(position('\x2a08'::bytea || 'accepted'::bytea IN data), position('\x2a08'::bytea || 'rejected'::bytea IN data)) AS at
            FROM events
            WHERE type = 'budget.v1.invitation.answered'
        ) AS located
        WHERE at > 36
    ) AS answered
    ORDER BY budget, member, created_at DESC
), accepted AS MATERIALIZED (
    SELECT a.budget, a.member
    FROM answers a
    WHERE a.status = 'accepted'::bytea
        AND NOT EXISTS (
            SELECT
            FROM events e
            WHERE e.type IN ('budget.v1.invitation.sent', 'budget.v1.member.removed')
                AND e.budget = a.budget AND convert_to(e.user_id::text, 'UTF8') = a.member AND e.created_at > a.created_at
        )
), deleted_notifications AS (
    DELETE FROM notifications n
    USING events e
    WHERE e.type = 'budget.v1.budget.deleted' AND n.user_id = e.user_id AND n.id = e.id
        AND (e.budget, convert_to(e.user_id::text, 'UTF8')) NOT IN (SELECT budget, member FROM accepted)
)
DELETE FROM webhook_deliveries d
USING (
    SELECT user_id, webhook_id, id, convert_from(body, 'UTF8')::jsonb #> '{data,budget}' AS budget
    FROM webhook_deliveries
    WHERE type = 'budget.v1.budget.deleted' AND status <> 'delivered'
) AS b
WHERE d.user_id = b.user_id AND d.webhook_id = b.webhook_id AND d.id = b.id
    AND b.budget ->> 'ownerId' <> b.user_id::text
    AND (convert_to(b.budget ->> 'id', 'UTF8'), convert_to(b.user_id::text, 'UTF8')) NOT IN (SELECT budget, member FROM accepted);
