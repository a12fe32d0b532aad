/** What was skipped, of all sources and uploads. */

import { Page } from "../../ui/page";
import { Skipped } from "./skipped-list";

export default function SkippedPage() {
  return (
    <Page title="What was skipped" back={{ to: "/sources", text: "Sources" }} lead="Rules and the classifier left these out. Restoring one also counts against the rule that was wrong.">
      <Skipped sourceId={null} />
    </Page>
  );
}
