/** Calls to the API: JSON in and out, problems as errors with field and remedy, the sign-in page when signed out. */

import { at } from "../lib/prefix";
import { writeQuery } from "../lib/filters";
import { stored } from "../lib/stored";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** What a call answers, by its path in the API's description: `Reply<"/v1/queues">`. */
export type Reply<Path extends keyof paths, Verb extends keyof paths[Path] = "get" & keyof paths[Path]> =
  paths[Path][Verb] extends { responses: infer R }
    ? R[keyof R & (200 | 201 | 202)] extends { content: { "application/json": infer Body } }
      ? Body
      : undefined
    : never;

export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly title: string,
    readonly field: string | null = null,
    readonly remedy: string | null = null,
    readonly faults: readonly { field: string; detail: string }[] = [],
    readonly requestId: string | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

export interface Options {
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Another tenant than the chosen one; null for none. */
  readonly tenant?: string | null;
}

/** The tenant an installation's session looks at; null for all. */
export function chosenTenant(): string | null {
  return stored("tenant");
}

/** For <img>, <a> and EventSource, which send no headers. */
export function withTenant(path: string): string {
  const tenant = chosenTenant();
  if (tenant === null) return at(path);
  return at(path) + (path.includes("?") ? "&" : "?") + `tenant=${encodeURIComponent(tenant)}`;
}

export async function call<T>(verb: string, path: string, options: Options = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
  const tenant = options.tenant === undefined ? chosenTenant() : options.tenant;
  if (tenant !== null) headers["X-Penstock-Tenant"] = tenant;
  let body: BodyInit | undefined = options.form;
  if (options.body !== undefined) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(options.body);
  }
  let response: Response;
  try {
    response = await fetch(at(path) + writeQuery(options.query ?? {}), {
      method: verb,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError("The server did not answer.", 0, "No connection", null, "Check that penstock is running: penstock up");
  }
  if (response.ok) return (response.status === 204 ? undefined : await read(response)) as T;
  if (response.status === 401) signIn();
  throw await problem(response);
}

async function read(response: Response): Promise<unknown> {
  const type = response.headers.get("Content-Type") ?? "";
  return type.includes("json") ? response.json() : response.text();
}

async function problem(response: Response): Promise<ApiError> {
  let told: Partial<Schemas["Problem"]> = {};
  try {
    told = (await response.json()) as Partial<Schemas["Problem"]>;
  } catch {
    // an answer of something between us and the API
  }
  return new ApiError(
    told.detail ?? `The server answered ${response.status}.`,
    response.status,
    told.title ?? response.statusText,
    told.field ?? null,
    told.remedy ?? null,
    told.errors ?? [],
    told.request_id ?? response.headers.get("X-Request-Id"),
  );
}

function signIn(): void {
  const here = location.pathname + location.search;
  location.assign(`${at("/login")}?next=${encodeURIComponent(here)}`);
}

export const get = <T>(path: string, query?: Options["query"], signal?: AbortSignal) =>
  call<T>("GET", path, { ...(query ? { query } : {}), ...(signal ? { signal } : {}) });
export const post = <T = undefined>(path: string, body?: unknown) => call<T>("POST", path, { body });
export const put = <T = undefined>(path: string, body: unknown) => call<T>("PUT", path, { body });
export const patch = <T = undefined>(path: string, body: unknown) => call<T>("PATCH", path, { body });
export const remove = <T = undefined>(path: string, query?: Options["query"]) => call<T>("DELETE", path, query ? { query } : {});
