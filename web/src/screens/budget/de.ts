import type en from "./en";

const de: typeof en = {
  title: "Budget",
  limit: "Limit",
  spent: "Ausgegeben",
  remaining: "Übrig",
};

export default de;
