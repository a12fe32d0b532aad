/** Upload by drag and drop. */

import { Page } from "../../ui/page";

export default function UploadPage() {
  return (
    <Page title="Upload">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
