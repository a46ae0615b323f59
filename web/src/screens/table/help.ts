// The keys of the table, for the list of keyboard shortcuts.
import type en from "./en";

/** helpOf returns the keys with their texts. */
export function helpOf(t: typeof en): readonly (readonly [keys: readonly string[], text: string])[] {
  return [
    [["↑", "↓", "←", "→"], t.keyMove],
    [["Enter"], t.keyEdit],
    [["Tab"], t.keyNext],
    [["Esc"], t.keyLeave],
    [["Space"], t.keySelect],
    [["Shift", "↓"], t.keyExtend],
    [["Ctrl", "A"], t.keyAll],
    [["c"], t.keyCategory],
    [["w"], t.keyWallet],
    [["p"], t.keyPayee],
    [["t"], t.keyAddTags],
    [["Shift", "t"], t.keyRemoveTags],
    [["b"], t.keyCleared],
    [["Delete"], t.keyDelete],
    [["Ctrl", "Z"], t.keyUndo],
  ];
}
