/** Which page a path belongs to: patterns of segments, in which `$name` takes any one segment. */

export interface Match<Value> {
  readonly value: Value;
  readonly params: Readonly<Record<string, string>>;
}

/** The first pattern that matches; fixed segments go before `$name` by their order in the list. */
export function matchPath<Value>(path: string, routes: readonly (readonly [string, Value])[]): Match<Value> | null {
  const parts = split(path);
  for (const [pattern, value] of routes) {
    const wanted = split(pattern);
    if (wanted.length !== parts.length) continue;
    const params: Record<string, string> = {};
    const fits = wanted.every((segment, index) => {
      const part = parts[index] ?? "";
      if (!segment.startsWith("$")) return segment === part;
      params[segment.slice(1)] = decoded(part);
      return true;
    });
    if (fits) return { value, params };
  }
  return null;
}

const split = (path: string) => path.split("/").filter((part) => part !== "");

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a lone per cent sign that somebody typed
  }
}

/** The path below the prefix; one outside of it stays as it is. */
export function below(prefix: string, path: string): string {
  if (prefix === "" || (path !== prefix && !path.startsWith(`${prefix}/`))) return path || "/";
  return path.slice(prefix.length) || "/";
}
