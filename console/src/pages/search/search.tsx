/** The search playground. */

import { Page } from "../../ui/page";

export default function SearchPage() {
  return (
    <Page title="Search">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
