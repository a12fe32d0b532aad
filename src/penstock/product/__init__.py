"""The composition of the document product."""

from penstock.product.product import Product

__all__ = ["Product"]
