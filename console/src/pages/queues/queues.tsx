/** Every queue. */

import { Page } from "../../ui/page";

export default function QueuesPage() {
  return (
    <Page title="Queues">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
