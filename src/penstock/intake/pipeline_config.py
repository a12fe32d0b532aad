"""What one document may ask of the pipeline that differs from its project."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Chunking(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: Literal["structure", "paragraph", "sentence", "fixed"] | None = None
    size: int | None = Field(default=None, ge=16, le=8192)
    overlap: int | None = Field(default=None, ge=0, le=4096)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.size is not None and self.overlap is not None and self.overlap > self.size // 2:
            raise ValueError("overlap must be at most half of size")
        return self


class PipelineConfig(BaseModel):
    """A document with one of its own goes before the others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chunking: Chunking | None = None
    parser: Literal["auto", "local", "docling"] = "auto"
    language: str | None = Field(default=None, pattern="^[a-z_]{1,40}$")
    """The text-search configuration, such as `german`."""
