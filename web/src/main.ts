import { mount } from "svelte";
import App from "./App.svelte";
import { startSession } from "./api/session.svelte";
import { startLanguage } from "./i18n/i18n.svelte";
import { startWorker } from "./offline/worker";
import { startAppearance } from "./shell/appearance.svelte";
import { startRouter } from "./shell/router.svelte";
import { routes } from "./shell/routes";
import { startShortcuts } from "./shell/shortcuts";
import "./styles/tokens.css";
import "./styles/base.css";

/** start mounts the console. It is a function because a chunk that imports this module would wait for a top-level await. */
async function start(): Promise<void> {
  startAppearance();
  startRouter(routes);
  startShortcuts();
  const session = startSession();
  await startLanguage();
  mount(App, { target: document.getElementById("app")! });
  await session;
  await startWorker();
}

void start();
