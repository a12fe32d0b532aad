-- The kinds of sources. A new provider is a folder in penstock/sources and a row here.
insert into internal.source_kind as k (kind, title, identity)
values
  ('webhook', 'Webhook', 'external'),
  ('folder', 'Folder', 'item'),
  ('outlook', 'Outlook', 'item'),
  ('gmail', 'Gmail', 'item'),
  ('imap', 'IMAP', 'item'),
  ('hubspot', 'HubSpot', 'item'),
  ('google_drive', 'Google Drive', 'item'),
  ('quickbooks', 'QuickBooks', 'item'),
  ('s3', 'S3', 'item')
on conflict (kind) do update set title = excluded.title, identity = excluded.identity
where (k.title, k.identity) is distinct from (excluded.title, excluded.identity);
