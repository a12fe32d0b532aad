/** What stands around every page: the side bar, who is signed in, the tenant, live updates, keys. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { at } from "../lib/prefix";
import { useStored } from "../lib/stored";
import { setPaused, useLiveState } from "../live/live";
import { Icon, Logo } from "../ui/icons";
import { Menu } from "../ui/menu";
import { Toasts } from "../ui/toast";
import { zoneName } from "../ui/values";
import { A, useGo, usePath } from "./address";
import { PLACES, placeOf } from "./nav";
import { useSession, useTenant } from "./session";
import { ShortcutSheet, useShortcuts } from "./shortcuts";
import { useTheme, type Theme } from "./theme";

const NEXT: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };

export function Shell({ children }: { children: ReactNode }) {
  const path = usePath();
  const go = useGo();
  const client = useQueryClient();
  const live = useLiveState();
  const [theme, setTheme] = useTheme();
  const [sheet, setSheet] = useState(false);
  const [open, setOpen] = useState(false);
  const session = useSession();
  const [tenant] = useTenant();
  useEffect(() => setOpen(false), [path]);
  useShortcuts({
    ...Object.fromEntries(PLACES.flatMap(([, places]) => places.map((place) => [`g ${place.key}`, () => go(place.path)]))),
    "/": () => go("/search"),
    "?": () => setSheet(true),
    r: () => void client.invalidateQueries(),
    p: () => setPaused(live !== "paused"),
    t: () => setTheme(NEXT[theme]),
  }, true);
  const here = placeOf(path);
  return (
    <div className={open ? "shell nav-open" : "shell"}>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top">
        <button type="button" className="icon-button nav-button" aria-label="Menu" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="menu" />
        </button>
        <A to="/" className="brand">
          <Logo />
          <span>Penstock</span>
        </A>
        <TenantSwitch />
        <span className="spacer" />
        <LiveSwitch />
        <button type="button" className="icon-button" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick={() => setSheet(true)}>
          <kbd>?</kbd>
        </button>
        <PersonMenu />
      </header>
      <nav className="side" aria-label="Pages">
        {PLACES.map(([title, places]) => (
          <section key={title}>
            <h2>{title}</h2>
            {places.map((place) => (
              <A key={place.path} to={place.path} aria-current={place.path === here ? "page" : undefined}>
                <Icon name={place.icon} />
                <span>{place.text}</span>
              </A>
            ))}
          </section>
        ))}
        {session ? <p className="version">Penstock {session.version}</p> : null}
      </nav>
      <main id="main" tabIndex={-1} key={tenant ?? ""}>
        {children}
      </main>
      <Toasts />
      <ShortcutSheet open={sheet} onClose={() => setSheet(false)} />
    </div>
  );
}

/** The tenant an installation's session looks at. A tenant's own session sees its name. */
function TenantSwitch() {
  const session = useSession();
  const [tenant, choose] = useTenant();
  if (!session) return null;
  if (!session.is_installation) return session.tenant ? <span className="tenant" title={session.tenant.slug}><bdi>{session.tenant.name}</bdi></span> : null;
  const known = tenant === null || session.tenants.some((each) => each.slug === tenant);
  return (
    <select className="tenant" aria-label="Tenant" value={tenant ?? ""} onChange={(event) => choose(event.target.value || null)}>
      <option value="">All tenants</option>
      {known ? null : <option value={tenant ?? ""}>{tenant}</option>}
      {session.tenants.map((each) => (
        <option key={each.slug} value={each.slug}>
          {each.name}
        </option>
      ))}
    </select>
  );
}

function LiveSwitch() {
  const live = useLiveState();
  const text = { live: "Live", connecting: "Connecting", paused: "Paused" }[live];
  return (
    <button
      type="button"
      className={`live ${live}`}
      aria-pressed={live === "paused"}
      title={live === "paused" ? "Resume live updates (p)" : "Pause live updates (p)"}
      onClick={() => setPaused(live !== "paused")}
    >
      <span className="live-dot" aria-hidden="true" />
      <span className="live-text">{text}</span>
    </button>
  );
}

function PersonMenu() {
  const session = useSession();
  const [theme, setTheme] = useTheme();
  const [zone, setZone] = useStored("zone");
  return (
    <Menu label="You and your settings" align="end" button={<><Icon name="clients" /><span className="person-name">{session?.name ?? ""}</span></>}>
      {() => (
        <div className="menu-list">
          {session ? (
            <p className="menu-note">
              <strong><bdi>{session.name}</bdi></strong>
              <br />
              {session.role} of {session.is_installation ? "this installation" : (session.tenant?.name ?? "")}
            </p>
          ) : null}
          <label className="menu-field">
            Theme
            <select value={theme} onChange={(event) => setTheme(event.target.value as Theme)}>
              <option value="system">System</option>
              <option value="light">Light</option>
              <option value="dark">Dark</option>
            </select>
          </label>
          <label className="menu-field">
            Times in
            <select value={zone === "utc" ? "utc" : "local"} onChange={(event) => setZone(event.target.value === "utc" ? "utc" : null)}>
              <option value="local">{zoneName()}</option>
              <option value="utc">UTC</option>
            </select>
          </label>
          <a className="menu-item" href={at("/docs")}>
            API reference
          </a>
          <form method="post" action={at("/logout")}>
            <button type="submit" className="menu-item">
              Sign out
            </button>
          </form>
        </div>
      )}
    </Menu>
  );
}
