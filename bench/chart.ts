/** One bar of a panel. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The formatted value, shown beside the bar. */
  readonly text: string;
  readonly kind: 'ours' | 'peer' | 'limit';
}

/** A group of bars with a common scale. */
export interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const columns = 2;
const panelWidth = 520;
const barHeight = 20;
const margin = 24;
const labelWidth = 220;
const valueWidth = 70;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .heading { font-size: 18px; font-weight: 600 }
  .title { font-size: 13px; font-weight: 600 }
  .note { fill: #57606a }
  .value { font-variant-numeric: tabular-nums }
  .card { fill: #fff; stroke: #d0d7de }
  .ours { fill: #0969da } .peer { fill: #afb8c1 } .limit { fill: #eaeef2; stroke: #afb8c1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .note { fill: #8b949e } .card { fill: #0d1117; stroke: #30363d }
    .ours { fill: #388bfd } .peer { fill: #6e7681 } .limit { fill: #21262d; stroke: #6e7681 }
  }
`;

/** Draws panels of horizontal bars, two per row, as an SVG document with light and dark colours. */
export function drawChart(heading: string, notes: readonly string[], panels: readonly Panel[]) {
  const rowHeights: number[] = [];
  for (let first = 0; first < panels.length; first += columns) {
    const row = panels.slice(first, first + columns);
    rowHeights.push(Math.max(...row.map(({ bars }) => bars.length * barHeight)) + 52);
  }
  const top = 68 + notes.length * 18;
  const width = margin * 2 + columns * panelWidth;
  const height = top + rowHeights.reduce((sum, rowHeight) => sum + rowHeight, 0) + margin / 2;
  const drawn = panels.map((panel, index) => {
    const row = Math.floor(index / columns);
    const y = top + rowHeights.slice(0, row).reduce((sum, rowHeight) => sum + rowHeight, 0);
    return drawPanel(panel, margin + (index % columns) * panelWidth, y);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(heading)}">
<style>${style}</style>
<rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text class="heading" x="${margin}" y="36">${escapeXml(heading)}</text>
${notes.map((note, index) => `<text class="note" x="${margin}" y="${58 + index * 18}">${escapeXml(note)}</text>`).join('\n')}
${drawn.join('\n')}
</svg>
`;
}

function drawPanel({ title, bars }: Panel, x: number, y: number): string {
  const scale =
    (panelWidth - labelWidth - valueWidth) / Math.max(...bars.map(({ value }) => value));
  const drawn = bars.map(({ label, value, text, kind }, index) => {
    const middle = 24 + index * barHeight + barHeight / 2;
    const length = Math.max(1, value * scale).toFixed(1);
    return `<text x="${labelWidth - 8}" y="${middle + 4}" text-anchor="end">${escapeXml(label)}</text>
<rect class="${kind}" x="${labelWidth}" y="${middle - 7}" width="${length}" height="14" rx="2"/>
<text class="value" x="${labelWidth + Number(length) + 6}" y="${middle + 4}">${escapeXml(text)}</text>`;
  });
  return `<g transform="translate(${x} ${y})">
<text class="title" x="0" y="12">${escapeXml(title)}</text>
${drawn.join('\n')}
</g>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
