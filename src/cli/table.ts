import { escapeControls } from '../telemetry/terminal.ts';

/** Formats a table with aligned columns; without rows, returns `whenEmpty`. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty = 'None.',
): string {
  if (rows.length === 0) return `${whenEmpty}\n`;
  const cells = rows.map((row) => row.map(escapeControls));
  const widths = header.map((name, column) =>
    Math.max(name.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  return [header, ...cells]
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
