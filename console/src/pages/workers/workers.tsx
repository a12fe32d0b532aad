/** Workers and schedules. */

import { Page } from "../../ui/page";

export default function WorkersPage() {
  return (
    <Page title="Workers">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
