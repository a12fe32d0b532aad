"""The system user of the embedded server, created in a copy of /etc that only the test's processes see."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

AT_ONCE = 12
PRINT_USER = """
import os, pathlib
from penstock.db.embedded.server_user import server_user
os.write(1, f"{server_user(pathlib.Path('/nonexistent')).uid}\\n".encode())
"""
START = """
mount --bind "$ETC" /etc
for i in $(seq $AT_ONCE); do "$PYTHON" -c "$PRINT_USER" & done
wait
id -u penstock
"""
USERADD = """#!/bin/sh
echo called >> "$CALLS"
sleep 0.5
PATH=/usr/sbin:/sbin:/usr/bin:/bin exec useradd "$@"
"""
"""The real one, slowed down so that others come while it runs."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root creates users")
needs_useradd = pytest.mark.skipif(
    shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin") is None or shutil.which("unshare") is None,
    reason="needs useradd and unshare: apt-get install passwd util-linux",
)


@needs_root
@needs_useradd
def test_processes_that_start_at_once_on_a_new_machine_agree_on_the_servers_user(tmp_path: Path) -> None:
    etc = tmp_path / "etc"
    etc.mkdir()
    for name in ("passwd", "group", "shadow", "gshadow"):
        lines = Path("/etc", name).read_text().splitlines(keepends=True)
        (etc / name).write_text("".join(line for line in lines if not line.startswith("penstock:")))
    shutil.copy("/etc/login.defs", etc)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "useradd").write_text(USERADD)
    (programs / "useradd").chmod(0o755)
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", START],
        env={
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "ETC": str(etc),
            "CALLS": str(tmp_path / "calls"),
            "AT_ONCE": str(AT_ONCE),
            "PYTHON": sys.executable,
            "PRINT_USER": PRINT_USER,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "unshare: unshare failed" in done.stderr:
        pytest.skip(f"this machine allows no mount namespace: {done.stderr.strip()}")
    *uids, uid = done.stdout.split()
    assert uids == [uid] * AT_ONCE, done.stderr
    assert (tmp_path / "calls").read_text() == "called\n"
