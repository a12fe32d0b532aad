"""Pipeline options of one document that override its project's."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from penstock.model.pipeline_options import (
    LARGEST_CHUNK,
    LARGEST_OVERLAP,
    SMALLEST_CHUNK,
    ParserName,
    Strategy,
)


class Chunking(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: Strategy | None = None
    size: int | None = Field(default=None, ge=SMALLEST_CHUNK, le=LARGEST_CHUNK)
    overlap: int | None = Field(default=None, ge=0, le=LARGEST_OVERLAP)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.size is not None and self.overlap is not None and self.overlap > self.size // 2:
            raise ValueError("overlap must be at most half of size")
        return self


class PipelineConfig(BaseModel):
    """Options of one document; those that are set override the project's and the settings'."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chunking: Chunking | None = None
    parser: ParserName = "auto"
    language: str | None = Field(default=None, pattern="^[a-z_]{1,40}$")
    """The text-search configuration, such as `german`."""
