import type en from "./en";

const de: typeof en = {
  title: "Webhooks",
  empty: "Noch keine Webhooks",
  emptyText: "Ein Webhook sendet jede Änderung an einen eigenen Server.",
};

export default de;
