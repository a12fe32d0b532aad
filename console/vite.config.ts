import { defineConfig } from "vitest/config";

// `npm run dev` shows the pages against a running `penstock up`. PENSTOCK_CONSOLE_API is its address and
// PENSTOCK_CONSOLE_KEY an API key, which the proxy adds; neither reaches the bundle.
const env = (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env ?? {};
const key = env["PENSTOCK_CONSOLE_KEY"];
const upstream = {
  target: env["PENSTOCK_CONSOLE_API"] ?? "http://127.0.0.1:8000",
  ...(key ? { headers: { Authorization: `Bearer ${key}` } } : {}),
};

export default defineConfig({
  // Relative, so that the server can put the prefix it is mounted behind in front.
  base: "./",
  // No hook for development tools: what a build for people leaves out.
  define: { __REACT_DEVTOOLS_GLOBAL_HOOK__: "undefined" },
  build: {
    outDir: env["PENSTOCK_CONSOLE_OUT"] ?? "../src/penstock/console/dist",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Two hundred small files compress badly: our code is one file, what it stands on another.
        codeSplitting: {
          groups: [
            { name: "chart", test: /node_modules[\\/]uplot|ui[\\/]chart/ },
            { name: "react", test: /node_modules/ },
            { name: "app", test: /src[\\/](api|app|lib|live|ui|pages)[\\/]/ },
          ],
        },
      },
    },
  },
  worker: { format: "es" },
  server: { proxy: { "/v1": upstream, "/login": upstream, "/logout": upstream } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
