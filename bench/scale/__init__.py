"""Predicts queue depth, delay and cost of millions of documents from times measured with hundreds."""
