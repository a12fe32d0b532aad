
create schema {{schema}} authorization penstock_owner;
revoke all on schema {{schema}} from public;
