/** Light, dark, or what the system says. */

import { useEffect } from "react";
import { stored, useStored } from "../lib/stored";

export type Theme = "system" | "light" | "dark";

export function applyTheme(theme = stored("theme")): void {
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
  else delete document.documentElement.dataset["theme"];
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, set] = useStored("theme");
  useEffect(() => applyTheme(theme), [theme]);
  return [theme === "light" || theme === "dark" ? theme : "system", (next) => set(next === "system" ? null : next)];
}
