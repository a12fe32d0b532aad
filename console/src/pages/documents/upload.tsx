/** Upload: choose a project, drop files, and watch each of them become searchable. */

import { useApi } from "../../api/queries";
import type { Reply } from "../../api/client";
import { usePageQuery } from "../../app/address";
import { useMay } from "../../app/session";
import { EmptyState } from "../../ui/notices";
import { Icon } from "../../ui/icons";
import { Page } from "../../ui/page";
import { DropArea, UploadButton, UploadPanel } from "./uploads";

export default function Upload() {
  const [query, change] = usePageQuery();
  const project = query["project"] ?? "default";
  const projects = useApi<Reply<"/v1/projects">>("/v1/projects", { live: ["projects"] }).data?.items ?? [];
  const may = useMay("documents:write");
  if (!may)
    return (
      <Page title="Upload" back={{ to: "/documents", text: "Documents" }}>
        <EmptyState title="You can view documents but not upload them">
          <p>Uploading needs the operator role. Ask an administrator of this installation for it.</p>
        </EmptyState>
      </Page>
    );
  return (
    <DropArea enabled project={project}>
      <Page title="Upload" back={{ to: "/documents", text: "Documents" }} lead="Uploading the same content again adds nothing: it stays one document.">
        <div className="upload-area">
          <Icon name="upload" />
          <p>
            <strong>Drop files anywhere on this page</strong>
          </p>
          <p className="quiet">PDF, Word, PowerPoint, Excel, email, web pages, text, images, and ZIP archives of these</p>
          <div className="actions">
            <label className="field inline">
              Project
              <select value={project} onChange={(event) => change({ project: event.target.value === "default" ? undefined : event.target.value }, { replace: true })}>
                {projects.some((each) => each.slug === project) ? null : <option value={project}>{project}</option>}
                {projects.map((each) => (
                  <option key={each.slug} value={each.slug}>
                    {each.name || each.slug}
                  </option>
                ))}
              </select>
            </label>
            <UploadButton project={project} />
          </div>
        </div>
        <UploadPanel />
      </Page>
    </DropArea>
  );
}
