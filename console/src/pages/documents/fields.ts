/** What documents can be filtered by; the API's list takes the same names. */

import type { Field } from "../../lib/filters";

export const STATUSES = ["pending", "processing", "embedding", "indexed", "skipped", "failed"] as const;

/** Media types by the names people use. */
export const TYPES: Readonly<Record<string, string>> = {
  "application/pdf": "PDF",
  "text/plain": "Text",
  "text/markdown": "Markdown",
  "text/html": "HTML",
  "text/csv": "CSV",
  "message/rfc822": "Email",
  "application/vnd.ms-outlook": "Outlook message",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
  "application/zip": "ZIP",
  "application/ms-tnef": "TNEF",
  "image/png": "PNG",
  "image/jpeg": "JPEG",
  "image/tiff": "TIFF",
  "image/gif": "GIF",
  "image/bmp": "BMP",
  "image/webp": "WebP",
};

export function typeName(mime: string): string {
  return TYPES[mime] ?? mime.replace(/^(application|text|image)\/(x-|vnd\.)?/, "");
}

const REASONS = [
  "malformed",
  "encrypted",
  "unsupported",
  "empty",
  "timeout",
  "oom",
  "crash",
  "output_too_large",
  "embedder_unavailable",
  "EmbedderRefused",
  "over_budget",
  "marketing_material",
  "signature_image",
];

export function documentFields(
  projects: readonly { slug: string; name: string }[],
  sources: readonly { source_id: string; name: string; kind: string }[],
): Field[] {
  return [
    { name: "q", label: "text", text: true },
    { name: "status", label: "status", options: STATUSES },
    { name: "project", label: "project", options: projects.map((each) => ({ value: each.slug, label: each.name || each.slug })) },
    { name: "source_id", label: "source", options: sources.map((each) => ({ value: each.source_id, label: `${each.name} (${each.kind})` })) },
    { name: "mime_type", label: "type", options: Object.entries(TYPES).map(([value, label]) => ({ value, label })) },
    { name: "reason", label: "reason", options: REASONS },
    { name: "fingerprint", label: "failure group", single: true, plain: true },
  ];
}
