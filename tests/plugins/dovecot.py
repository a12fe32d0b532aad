"""Debian's dovecot as a plain process on loopback, with its configuration and mails in its own folder."""

from __future__ import annotations

import getpass
import imaplib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from tests.plugins.smtp import Certificate

USER = "info@example.com"
PASSWORD = 'correct horse "battery\\ stäple'
SERVER = shutil.which("dovecot") or "/usr/sbin/dovecot"
INSTALL = "dovecot is not installed: apt-get install dovecot-imapd"
_NUMBERS = count(1)


@dataclass(slots=True)
class Dovecot:
    """One server with one account."""

    folder: Path
    certificate: Certificate
    port: int = 0
    tls_port: int = 0
    password: str = PASSWORD
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def config(self) -> dict[str, Any]:
        """A source that reads this account."""
        return {"host": "127.0.0.1", "port": self.port, "user": USER, "security": "none"}

    @property
    def tls_config(self) -> dict[str, Any]:
        return {
            "host": "localhost",
            "port": self.tls_port,
            "user": USER,
            "security": "tls",
            "ca": self.certificate.path.read_text(),
        }

    @property
    def starttls_config(self) -> dict[str, Any]:
        return {**self.tls_config, "port": self.port, "security": "starttls"}

    def maildir(self, folder: str = "INBOX") -> Path:
        root = self.folder / "mails"
        return root if folder.upper() == "INBOX" else root / f".{folder.replace('/', '.')}"

    def deliver(self, mail: EmailMessage | bytes, folder: str = "INBOX") -> Path:
        """As a delivery agent does: written to tmp, then moved to new."""
        place = self.maildir(folder)
        for name in ("tmp", "new", "cur"):
            (place / name).mkdir(parents=True, exist_ok=True)
        if place != self.maildir():
            (place / "maildirfolder").touch()
        name = f"17000000{next(_NUMBERS):06}.M1P{os.getpid()}.test"
        content = mail.as_bytes() if isinstance(mail, EmailMessage) else mail
        (place / "tmp" / name).write_bytes(content)
        self._hand_over(place)
        return (place / "tmp" / name).rename(place / "new" / name)

    def renumber(self, folder: str = "INBOX") -> None:
        """Forget the numbers of all mails, as after the restore of a backup: UIDVALIDITY changes."""
        for path in self.maildir(folder).glob("dovecot*"):
            path.unlink()
        for path in self.maildir().glob("dovecot-uidvalidity*"):
            path.unlink()

    def set_password(self, password: str) -> None:
        self.password = password
        # At once: the server may read the file at any time.
        (self.folder / "users.new").write_text(f"{USER}:{{PLAIN}}{password}\n")
        (self.folder / "users.new").rename(self.folder / "users")
        if self.process is not None:
            # It looks at the file once a second.
            _wait(self._accepts_password)

    def start(self) -> None:
        self._configure()
        self.process = subprocess.Popen(
            [SERVER, "-F", "-c", str(self.folder / "dovecot.conf")], stdin=subprocess.DEVNULL
        )
        _wait(self._is_up)

    def stop(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.terminate()
            process.wait(60)

    def _accepts_password(self) -> bool:
        client = imaplib.IMAP4("127.0.0.1", self.port)
        try:
            client.login(USER, self.password)
        except imaplib.IMAP4.error:
            return False
        finally:
            client.shutdown()
        return True

    def _is_up(self) -> bool:
        log = self.folder / "log"
        assert self.process is not None
        assert self.process.poll() is None, log.read_text() if log.exists() else "dovecot ended"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _configure(self) -> None:
        me = getpass.getuser()
        owner = "dovecot" if me == "root" else me
        self.port, self.tls_port = self.port or _free_port(), self.tls_port or _free_port()
        self.set_password(self.password)
        (self.folder / "chain.pem").write_bytes(self.certificate.chain.read_bytes())
        self.maildir().mkdir(exist_ok=True)
        self._hand_over(self.folder)
        (self.folder / "dovecot.conf").write_text(
            f"""
base_dir = {self.folder}/run
state_dir = {self.folder}/run
log_path = {self.folder}/log
protocols = imap
listen = 127.0.0.1
default_internal_user = {owner}
default_internal_group = {owner if me == "root" else _group()}
default_login_user = {owner}
first_valid_uid = 1
mail_location = maildir:{self.folder}/mails
mail_max_userip_connections = 50
auth_mechanisms = plain
disable_plaintext_auth = no
ssl = yes
ssl_cert = <{self.folder}/chain.pem
ssl_key = <{self.folder}/chain.pem
auth_failure_delay = 0
auth_cache_size = 0
passdb {{
  driver = passwd-file
  args = scheme=plain username_format=%u {self.folder}/users
}}
userdb {{
  driver = static
  args = uid={owner} gid={owner if me == "root" else _group()} home={self.folder}/home
}}
service anvil {{
  chroot =
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {self.port}
  }}
  inet_listener imaps {{
    port = {self.tls_port}
    ssl = yes
  }}
}}
"""
        )

    def _hand_over(self, place: Path) -> None:
        """Dovecot gives nobody mails as root: as root it runs as its own user, which owns the mails."""
        if os.getuid() == 0:
            for path in (place, *place.rglob("*")):
                shutil.chown(path, "dovecot", "dovecot")


@pytest.fixture
def dovecot(certificate: Certificate) -> Iterator[Dovecot]:
    if not Path(SERVER).exists():
        pytest.skip(INSTALL)
    # Its sockets are in here, and their paths may have a hundred characters.
    folder = Path(mkdtemp(prefix="dovecot-"))
    folder.chmod(0o755)
    server = Dovecot(folder, certificate)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "dovecot does not do what it was told"
        time.sleep(0.05)


def _group() -> str:
    import grp

    return grp.getgrgid(os.getgid()).gr_name


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def mails(*names: str) -> Iterator[EmailMessage]:
    """A mail for each file name, with one attachment of its own."""
    for name in names:
        yield mail_with((name, f"Invoice {name} over 120 EUR".encode()))


def mail_with(*files: tuple[str, bytes], subject: str = "Invoice March", **headers: str) -> EmailMessage:
    number = next(_NUMBERS)
    made = EmailMessage()
    made["From"] = "Billing <billing@supplier.example>"
    made["To"] = USER
    made["Subject"] = subject
    made["Date"] = "Tue, 17 Nov 2026 09:00:00 +0100"
    made["Message-ID"] = f"<{number}.{os.getpid()}@supplier.example>"
    for name, value in headers.items():
        made[name] = value
    made.set_content("Please find the invoice attached.\n")
    for name, content in files:
        made.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return made
