/** Starts the console. */

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { Router } from "./app/router";
import { applyTheme } from "./app/theme";
import { startLive } from "./live/live";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/lists.css";
import "./styles/pages.css";
import "./styles/contents.css";

applyTheme();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      refetchOnWindowFocus: false, // the event stream tells what changed
      // A refusal stays a refusal; a lost connection may come back.
      retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});

startLive(queries);

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Router />
    </QueryClientProvider>
  </StrictMode>,
);
