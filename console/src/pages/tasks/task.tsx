/** One task. */

import { Page } from "../../ui/page";

export default function TaskPage() {
  return (
    <Page title="Task">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
