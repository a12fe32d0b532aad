-- The collections of an index outside the database (Qdrant), one per model and shared by all tenants. A search reads here which
-- ones there are instead of listing them, and can tell one that was deleted from one that never was.
create table internal.vector_collection (
  model text primary key,
  collection text not null constraint collection_holds_one_model unique,
  dimensions integer not null constraint dimensions_are_positive check (dimensions > 0),
  created_at timestamptz not null
);
