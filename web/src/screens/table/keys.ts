// Movements in the grid. All functions are pure.

/** Place is a cell: the number of its row and of its column. */
export interface Place {
  readonly row: number;
  readonly column: number;
}

/** Size is that of the grid, and the number of rows that fit on the screen. */
interface Size {
  readonly rows: number;
  readonly columns: number;
  readonly page: number;
}

/** moved returns the cell to which a key leads, or undefined if the key moves nowhere. */
export function moved(key: string, control: boolean, { row, column }: Place, { rows, columns, page }: Size): Place | undefined {
  const to = (nextRow: number, nextColumn: number): Place => ({
    row: Math.max(0, Math.min(rows - 1, nextRow)),
    column: Math.max(0, Math.min(columns - 1, nextColumn)),
  });
  switch (key) {
    case "ArrowDown": return to(control ? rows : row + 1, column);
    case "ArrowUp": return to(control ? 0 : row - 1, column);
    case "ArrowRight": return to(row, column + 1);
    case "ArrowLeft": return to(row, column - 1);
    case "PageDown": return to(row + page, column);
    case "PageUp": return to(row - page, column);
    case "Home": return to(control ? 0 : row, 0);
    case "End": return to(control ? rows : row, columns);
    default: return undefined;
  }
}

/** following returns the next cell for Tab, or the previous one, that fits. It is in another row after the end of a row. */
export function following(place: Place, step: 1 | -1, { rows, columns }: Size, fits: (place: Place) => boolean): Place | undefined {
  for (let at = place.row * columns + place.column + step; at >= 0 && at < rows * columns; at += step) {
    const found = { row: Math.floor(at / columns), column: at % columns };
    if (fits(found)) return found;
  }
  return undefined;
}

/**
 * nearest returns the number of the row that follows a deleted one, or precedes it if none follows. before are the rows from before the
 * deletion, and at is its number among them. It returns 0 if none of them is left.
 */
export function nearest(rows: readonly { readonly id: string }[], before: readonly { readonly id: string }[], at: number): number {
  const numbers = new Map(rows.map(({ id }, i) => [id, i]));
  const left = ({ id }: { readonly id: string }) => numbers.has(id);
  const found = before.slice(at).find(left) ?? before.slice(0, at).findLast(left);
  return found ? numbers.get(found.id)! : 0;
}
