export default {
  title: "Views",
  name: "Save these filters as",
  hint: "Filter the transactions first. Then you can save the filters here under a name.",
  hintReport: "Choose filters of the report first. Then you can save them here under a name.",
  saved: (name: string) => `Saved: ${name}`,
  rename: (name: string) => `Rename ${name}`,
  remove: (name: string) => `Delete ${name}`,
  deleted: (name: string) => `${name} deleted`,
  empty: "No views yet",
  unknown: "It has filters that the console does not have",
};
