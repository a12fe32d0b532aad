"""Where the objects of an S3 source are: a bucket and the beginning of their keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from penstock.db.storable import storable_text
from penstock.errors import InvalidArgument
from penstock.model.s3_objects import LONGEST_KEY

_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_REGION: Final = re.compile(r"[a-z]{2}(-[a-z]{1,20}){1,4}-[0-9]{1,2}")
_SETTINGS: Final = ("bucket", "prefix", "region", "path")


@dataclass(frozen=True, slots=True)
class Place:
    bucket: str
    prefix: str
    region: str | None


def place_of(config: Mapping[str, Any]) -> Place:
    """From a configuration: `path` is short for bucket and prefix. InvalidArgument names what is wrong."""
    if unknown := sorted(config.keys() - set(_SETTINGS)):
        raise InvalidArgument(
            f"S3 has no setting {unknown[0]!r}", unknown[0], "There are bucket, prefix and region"
        )
    bucket, prefix = config.get("bucket"), config.get("prefix", "")
    path = config.get("path")
    if isinstance(path, str) and bucket is None:
        bucket, _, prefix = path.removeprefix("s3://").partition("/")
    if not isinstance(bucket, str) or _BUCKET.fullmatch(bucket) is None:
        raise InvalidArgument(
            f"{bucket!r} is not the name of a bucket",
            "bucket",
            "Such as: penstock source add s3 BUCKET/PREFIX",
        )
    if not isinstance(prefix, str) or len(prefix) > LONGEST_KEY or storable_text(prefix) != prefix:
        raise InvalidArgument(
            f"the prefix must be a text of at most {LONGEST_KEY} characters", "prefix", "Check its end"
        )
    region = config.get("region")
    if region is not None and (not isinstance(region, str) or _REGION.fullmatch(region) is None):
        raise InvalidArgument(f"{region!r} is not a region", "region", "Such as eu-central-1")
    return Place(bucket, prefix, region)


def is_folder_mark(key: str) -> bool:
    """Consoles create an object named like a folder, so that it is shown while it is empty."""
    return key.endswith("/")
