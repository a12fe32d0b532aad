"""What tests and demonstrations need and the product does not."""
