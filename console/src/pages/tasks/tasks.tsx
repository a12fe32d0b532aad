/** Every task. */

import { Page } from "../../ui/page";

export default function TasksPage() {
  return (
    <Page title="Tasks">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
