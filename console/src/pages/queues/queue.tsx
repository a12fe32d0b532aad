/** One queue. */

import { Page } from "../../ui/page";

export default function QueuePage() {
  return (
    <Page title="Queue">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
