-- Whether everybody can have an address in this domain, so that sharing it says nothing.
create or replace function ingest.is_public_domain(_domain text)
returns boolean
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select _domain = any ('{
    163.com,126.com,aim.com,aliyun.com,aol.com,arcor.de,att.net,bellsouth.net,bigpond.com,bluewin.ch,bt.com,btinternet.com,
    charter.net,comcast.net,cox.net,duck.com,earthlink.net,email.com,example.com,facebook.com,fastmail.com,fastmail.fm,
    free.fr,freenet.de,gmail.com,gmx.at,gmx.ch,gmx.com,gmx.de,gmx.net,googlemail.com,hey.com,hotmail.co.uk,hotmail.com,
    hotmail.de,hotmail.es,hotmail.fr,hotmail.it,icloud.com,inbox.com,instagram.com,interia.pl,juno.com,laposte.net,libero.it,
    linkedin.com,live.co.uk,live.com,live.de,live.fr,live.nl,mac.com,mail.com,mail.ru,mailbox.org,me.com,msn.com,naver.com,
    ntlworld.com,o2.pl,online.de,optonline.net,orange.fr,outlook.com,outlook.de,outlook.es,outlook.fr,outlook.it,pm.me,
    posteo.de,proton.me,protonmail.ch,protonmail.com,qq.com,rambler.ru,rediffmail.com,rocketmail.com,rogers.com,sbcglobal.net,
    seznam.cz,sfr.fr,shaw.ca,sina.com,sky.com,t-online.de,talktalk.net,telia.com,terra.com.br,tutanota.com,twitter.com,
    uol.com.br,verizon.net,virgilio.it,virgin.net,virginmedia.com,wanadoo.fr,web.de,wp.pl,x.com,xtra.co.nz,yahoo.ca,
    yahoo.co.in,yahoo.co.jp,yahoo.co.uk,yahoo.com,yahoo.com.au,yahoo.com.br,yahoo.de,yahoo.es,yahoo.fr,yahoo.it,yandex.com,
    yandex.ru,ymail.com,zoho.com}'::text[]);
$$;
