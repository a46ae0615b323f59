// The kinds of files that cannot be imported, by the first bytes of a file.

const starts: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ["pdf", /^%PDF/],
  // Excel before 2007, and all workbooks with a password.
  ["excel", /^\uFFFD\uFFFD\x11/],
  ["archive", /^(PK|\x1F\uFFFD|7z|Rar!)/],
  ["image", /^(\uFFFD\uFFFD\uFFFD|\uFFFDPNG|GIF8|RIFF|II\*|MM\0\*|.{4}ftyp)/s],
  ["plan", /^"?Month"?,.*(Budgeted|Assigned)/],
  ["web", /^\s*<(!doctype html|html|table)|schemas-microsoft-com/i],
];

/** kindOf returns the kind of a file whose start is read as UTF-8, or undefined. */
export function kindOf(start: string): string | undefined {
  return starts.find(([, pattern]) => pattern.test(start))?.[0];
}
