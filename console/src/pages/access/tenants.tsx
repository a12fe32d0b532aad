/** Tenants of the installation: their limits, what they use, and new ones. */

import { useState } from "react";
import { patch, post } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import { useSession, useTenant } from "../../app/session";
import { useGo } from "../../app/address";
import { bytes, compact, count } from "../../lib/numbers";
import { Dialog } from "../../ui/dialog";
import { Answer, EmptyState, ErrorBox } from "../../ui/notices";
import { Table } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Name, Time } from "../../ui/values";
import { limitOf, writtenLimit } from "./limits";
import { AccessPage } from "./tabs";

interface Quota {
  readonly used: number;
  readonly limit: number | null;
}
export interface TenantRow {
  readonly slug: string;
  readonly name: string;
  readonly status: string;
  readonly max_upload_bytes: number | null;
  readonly requests_per_minute: number | null;
  readonly monthly_token_budget: number | null;
  readonly max_documents?: number | null;
  readonly max_stored_bytes?: number | null;
  readonly max_keys?: number | null;
  readonly created_at: string;
  readonly holdings?: { readonly documents: Quota; readonly stored_bytes: Quota; readonly keys: Quota } | null;
}

export default function Tenants() {
  const session = useSession();
  const [editing, setEditing] = useState<TenantRow | "new" | null>(null);
  const mayChange = session?.role === "admin" && session.is_installation;
  return (
    <AccessPage
      title="Tenants"
      lead="What one tenant puts in, only that tenant gets out."
      admin={false}
      actions={
        mayChange ? (
          <button type="button" className="primary" onClick={() => setEditing("new")}>
            Create a tenant
          </button>
        ) : null
      }
    >
      {session && !session.is_installation ? (
        <EmptyState title="This is about the whole installation" command="penstock login">
          <p>You are signed in to one tenant. Whoever runs the installation signs in with a link of the command line:</p>
        </EmptyState>
      ) : (
        <TenantTable mayChange={mayChange} onEdit={setEditing} />
      )}
      {editing ? <TenantForm tenant={editing === "new" ? null : editing} onClose={() => setEditing(null)} /> : null}
    </AccessPage>
  );
}

function TenantTable({ mayChange, onEdit }: { mayChange: boolean; onEdit: (tenant: TenantRow) => void }) {
  const found = useApi<{ items: TenantRow[] }>("/v1/tenants", { live: ["tenants"], everySeconds: 60 });
  const [, choose] = useTenant();
  const go = useGo();
  return (
    <Answer of={found}>
      {(answer) => (
        <div className="section">
        <Table
          label="Tenants"
          head={["Tenant", "State", { text: "Documents", right: true }, { text: "Stored", right: true }, { text: "Keys", right: true }, { text: "Tokens a month", right: true }, { text: "Created", right: true }, ""]}
        >
          {answer.items.map((tenant) => (
            <tr key={tenant.slug}>
              <td>
                <Name>{tenant.name}</Name>
                <div className="quiet small mono">{tenant.slug}</div>
              </td>
              <td>
                <StateBadge state={tenant.status} />
              </td>
              <td className="right">
                <Used quota={tenant.holdings?.documents} show={compact} />
              </td>
              <td className="right">
                <Used quota={tenant.holdings?.stored_bytes} show={bytes} />
              </td>
              <td className="right">
                <Used quota={tenant.holdings?.keys} show={count} />
              </td>
              <td className="right">{tenant.monthly_token_budget ? compact(tenant.monthly_token_budget) : <span className="zero">no limit</span>}</td>
              <td className="right">
                <Time at={tenant.created_at} />
              </td>
              <td className="right">
                <span className="row-actions">
                  {tenant.status === "active" ? (
                    <button
                      type="button"
                      aria-label={`Look at ${tenant.name}`}
                      onClick={() => {
                        choose(tenant.slug);
                        go("/documents");
                      }}
                    >
                      Look
                    </button>
                  ) : null}
                  {mayChange && tenant.status === "active" ? (
                    <button type="button" aria-label={`Change the limits of ${tenant.name}`} onClick={() => onEdit(tenant)}>
                      Limits …
                    </button>
                  ) : null}
                </span>
              </td>
            </tr>
          ))}
        </Table>
        </div>
      )}
    </Answer>
  );
}

function Used({ quota, show }: { quota: Quota | undefined; show: (n: number) => string }) {
  if (!quota) return <span className="zero">–</span>;
  const full = quota.limit !== null && quota.limit > 0 && quota.used >= 0.9 * quota.limit;
  return (
    <span className={full ? "tone-text-warn" : ""}>
      {show(quota.used)}
      {quota.limit ? <span className="quiet"> of {show(quota.limit)}</span> : null}
    </span>
  );
}

const LIMITS = [
  ["max_documents", "Documents"],
  ["max_stored_bytes", "Stored bytes"],
  ["max_keys", "Keys"],
  ["monthly_token_budget", "Embedding tokens a month"],
  ["requests_per_minute", "Requests a minute"],
  ["max_upload_bytes", "Bytes of one upload"],
] as const;

function TenantForm({ tenant, onClose }: { tenant: TenantRow | null; onClose: () => void }) {
  const [slug, setSlug] = useState("");
  const [name, setName] = useState(tenant?.name ?? "");
  const [limits, setLimits] = useState<Record<string, string>>(
    Object.fromEntries(LIMITS.map(([field]) => [field, writtenLimit(tenant?.[field] ?? null)])),
  );
  const save = useAction(
    (_: null) => {
      const body = { ...(name.trim() ? { name: name.trim() } : {}), ...Object.fromEntries(LIMITS.map(([field]) => [field, limitOf(limits[field] ?? "")])) };
      return tenant ? patch(`/v1/tenants/${tenant.slug}`, body) : post("/v1/tenants", { ...body, slug: slug.trim() });
    },
    ["tenants"],
    () => {
      toast(tenant ? "The limits apply from the next request on." : "The tenant was created. Choose it at the top to work in it.");
      onClose();
    },
  );
  return (
    <Dialog open onClose={onClose} title={tenant ? `Limits of ${tenant.name}` : "Create a tenant"}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(null);
        }}
      >
        {tenant ? null : (
          <label className="field">
            Slug
            <input required autoFocus pattern="[a-z0-9][a-z0-9\-]*" maxLength={63} placeholder="acme" value={slug} onChange={(event) => setSlug(event.target.value)} />
            <span className="quiet">Lower-case letters, digits and hyphens. It is part of addresses and cannot be changed.</span>
          </label>
        )}
        <label className="field">
          Name
          <input maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <div className="two-columns">
          {LIMITS.map(([field, label]) => (
            <label key={field} className="field">
              {label}
              <input inputMode="numeric" pattern="[0-9 ,]*" placeholder="default" value={limits[field] ?? ""} onChange={(event) => setLimits({ ...limits, [field]: event.target.value })} />
            </label>
          ))}
        </div>
        <p className="quiet small">Empty means the installation’s default.</p>
        <ErrorBox error={save.error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={save.isPending}>
            {save.isPending ? "Working …" : tenant ? "Save" : "Create the tenant"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
