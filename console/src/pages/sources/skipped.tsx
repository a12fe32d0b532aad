/** What was skipped, of all sources and uploads. */

import { Page } from "../../ui/page";
import { Skipped } from "./skipped-list";

export default function SkippedPage() {
  return (
    <Page title="What was skipped" back={{ to: "/sources", text: "Sources" }} lead="What the mail rules and the classifier left out. Restoring an item also counts against the rule that was wrong.">
      <Skipped sourceId={null} />
    </Page>
  );
}
