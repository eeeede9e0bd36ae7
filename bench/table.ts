/** Rows below a header as a table for people; every column but the first is aligned to the right. */
export function layOut(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? '';
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ');
  const rule = widths.map((width) => '─'.repeat(width));
  return `${[header, rule, ...rows].map(line).join('\n')}\n`;
}

/** A part of one, as people write it. */
export function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}
