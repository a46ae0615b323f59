import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/classes.css";
import { mount } from "svelte";
import App from "./App.svelte";
import { session, startSession } from "./api/session.svelte";
import { i18n, startLanguage } from "./i18n/i18n.svelte";
import { startWorker } from "./offline/worker";
import { startAppearance } from "./shell/appearance.svelte";
import { router, startRouter } from "./shell/router.svelte";
import { openScreen, routes } from "./shell/routes";
import { startShortcuts } from "./shell/shortcuts";

/** start is a function because chunks that import this one would wait for a top-level await. */
async function start(): Promise<void> {
  startAppearance();
  startRouter(routes);
  startShortcuts();
  const started = startSession();
  // The code of the screen and the texts are loaded at the same time.
  if (session.status === "signed-in") void openScreen(router.route.screen);
  // The first formatters take the browser long to create. It does that while the page waits for
  // these files, in two tasks.
  setTimeout(() => new Intl.NumberFormat(i18n.locale));
  setTimeout(() => new Intl.DateTimeFormat(i18n.locale));
  await startLanguage();
  mount(App, { target: document.getElementById("app") ?? document.body });
  await started;
  // The worker stores all files of the build. The first screen needs the processor and the network
  // before.
  setTimeout(startWorker, 3000);
}

void start();
