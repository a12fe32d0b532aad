"""The composition of the document product."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.product.product import Product

__all__ = ["Product"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "product": ["Product"],
    },
)
