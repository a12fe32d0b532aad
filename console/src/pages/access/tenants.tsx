/** Tenants of the installation: their limits, what they use, and new ones. */

import { useMemo, useState } from "react";
import { patch, post } from "../../api/client";
import { useAction } from "../../api/queries";
import { useSession, useTenant } from "../../app/session";
import { useGo } from "../../app/address";
import { bytes, compact } from "../../lib/numbers";
import type { Field } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import { Confirm } from "../../ui/dialog";
import { EmptyState } from "../../ui/notices";
import { StateBadge } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Name, Time } from "../../ui/values";
import type { Column } from "../../ui/virtual-table";
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
      lead="Each tenant sees only its own documents, sources and clients."
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
          <p>You are signed in to one tenant. An operator of the installation signs in with a link from the command line:</p>
        </EmptyState>
      ) : (
        <TenantTable mayChange={mayChange} onEdit={setEditing} />
      )}
      {editing ? <TenantForm tenant={editing === "new" ? null : editing} onClose={() => setEditing(null)} /> : null}
    </AccessPage>
  );
}

const LIVE = { live: ["tenants", "documents", "keys"] };
const FIELDS: readonly Field[] = [
  { name: "state", label: "state", options: ["active", "deleted"] },
  { name: "q", label: "name", text: true },
];

function TenantTable({ mayChange, onEdit }: { mayChange: boolean; onEdit: (tenant: TenantRow) => void }) {
  const [, choose] = useTenant();
  const go = useGo();
  const columns = useMemo(
    (): readonly Column<TenantRow>[] => [
      {
        key: "tenant",
        label: "Tenant",
        width: "minmax(10rem, 2fr)",
        sort: (tenant) => tenant.name,
        render: (tenant) => (
          <>
            <Name>{tenant.name}</Name> <span className="quiet small mono">{tenant.slug}</span>
          </>
        ),
      },
      { key: "state", label: "State", width: "7rem", render: (tenant) => <StateBadge state={tenant.status} /> },
      { key: "documents", label: "Documents", width: "minmax(6rem, 1fr)", right: true, sort: (tenant) => tenant.holdings?.documents.used, render: (tenant) => <Used quota={tenant.holdings?.documents} show={compact} /> },
      { key: "stored", label: "Stored", width: "minmax(6rem, 1fr)", right: true, sort: (tenant) => tenant.holdings?.stored_bytes.used, render: (tenant) => <Used quota={tenant.holdings?.stored_bytes} show={bytes} /> },
      { key: "keys", label: "Keys", width: "5rem", right: true, render: (tenant) => <Used quota={tenant.holdings?.keys} show={compact} /> },
      {
        key: "tokens",
        label: "Tokens/month",
        width: "7.5rem",
        right: true,
        render: (tenant) => (tenant.monthly_token_budget ? compact(tenant.monthly_token_budget) : <span className="zero">no limit</span>),
      },
      { key: "created", label: "Created", width: "6.5rem", right: true, sort: (tenant) => tenant.created_at, render: (tenant) => <Time at={tenant.created_at} /> },
      {
        key: "act",
        label: "",
        width: "11.5rem",
        right: true,
        render: (tenant) => (
          <span className="row-actions">
            {tenant.status === "active" ? (
              <button
                type="button"
                aria-label={`Open ${tenant.name}`}
                onClick={() => {
                  choose(tenant.slug);
                  go("/documents");
                }}
              >
                Open
              </button>
            ) : null}
            {mayChange && tenant.status === "active" ? (
              <button type="button" aria-label={`Change the limits of ${tenant.name}`} onClick={() => onEdit(tenant)}>
                Limits …
              </button>
            ) : null}
          </span>
        ),
      },
    ],
    [mayChange],
  );
  return (
    <ActingList
      label="Tenants"
      path="/v1/tenants"
      options={LIVE}
      fields={FIELDS}
      page="tenants"
      placeholder="Filter by name or state:"
      columns={columns}
      rowKey={(tenant) => tenant.slug}
      actions={[]}
      empty={<EmptyState title="No tenant yet" command="penstock tenant create acme" />}
    />
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
  ["monthly_token_budget", "Embedding tokens per month"],
  ["requests_per_minute", "Requests per minute"],
  ["max_upload_bytes", "Bytes per upload"],
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
      toast(tenant ? "The limits apply from the next request." : "The tenant was created. Choose it at the top to work in it.");
      onClose();
    },
  );
  return (
    <Confirm
      open
      onClose={onClose}
      title={tenant ? `Limits of ${tenant.name}` : "Create a tenant"}
      verb={tenant ? "Save" : "Create the tenant"}
      busy={save.isPending}
      error={save.error}
      onConfirm={() => save.mutate(null)}
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
    </Confirm>
  );
}
