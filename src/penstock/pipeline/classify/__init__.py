"""Stage 2 of relevance: decides whether to keep a parsed document, by its class."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.pipeline.classify.protocol import Classifier, FoundClass, Keep, KeepAll, Skip

__all__ = ["Classifier", "FoundClass", "Keep", "KeepAll", "Skip"]

__getattr__, __dir__ = lazy(__name__, {"protocol": ["Classifier", "FoundClass", "Keep", "KeepAll", "Skip"]})
