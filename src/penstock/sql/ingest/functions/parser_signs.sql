-- A pattern for the characters that part words although text search takes them for letters where the database's locale is C, as on the
-- embedded server: spaces, dashes, quotation marks, bullets, currencies, arrows and pictures beyond ASCII. Not the two that join
-- letters in some scripts (U+200C, U+200D), and not the apostrophe (U+2019).
create or replace function ingest.parser_signs()
returns text
language sql
immutable
parallel safe
as $$
  select '[\u00A0-\u00A9\u00AB\u00AC\u00AE-\u00B1\u00B4\u00B6-\u00B8\u00BB\u00BF\u00D7\u00F7\u05BE\u060C\u061B\u061F\u066A-\u066D\u06D4'
    '\u0964\u0965\u2000-\u200B\u200E-\u2018\u201A-\u2064\u20A0-\u20CF\u2116\u2122\u2190-\u245F\u2500-\u27BF\u27E6-\u27EF\u2900-\u2BFF'
    '\u2E00-\u2E7F\u3000-\u3003\u3008-\u3011\u3014-\u301F\u3030\u30FB\uFE10-\uFE1F\uFE30-\uFE6F\uFF01-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40'
    '\uFF5B-\uFF65\U0001F000-\U0001FAFF]';
$$;
