import type { Result } from './measure.ts';
import { figuresOf } from './report.ts';
import type { Workload } from './workloads.ts';

const columns = 2;
const panelWidth = 520;
const barHeight = 20;
const margin = 24;
const labelWidth = 150;
const valueWidth = 90;
const heading = 'CPU time per request, in microseconds (less is better)';

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

/** Draws the CPU time per request as bars, a panel per workload, as an SVG document. */
export function drawChart(
  notes: readonly string[],
  results: readonly Result[],
  workloads: readonly Workload[],
): string {
  const panelHeight = results.length * barHeight + 52;
  const top = 68 + notes.length * 18;
  const width = margin * 2 + columns * panelWidth;
  const height = top + Math.ceil(workloads.length / columns) * panelHeight;
  const panels = workloads.map((workload, index) => {
    const x = margin + (index % columns) * panelWidth;
    const y = top + Math.floor(index / columns) * panelHeight;
    return drawPanel(results, workload, x, y);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${heading}">
<style>${style}</style>
<rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text class="heading" x="${margin}" y="36">${heading}</text>
${notes.map((note, index) => `<text class="note" x="${margin}" y="${58 + index * 18}">${escapeXml(note)}</text>`).join('\n')}
${panels.join('\n')}
</svg>
`;
}

function drawPanel(results: readonly Result[], workload: Workload, x: number, y: number): string {
  const figures = results.map((result) => figuresOf(result, workload)?.cpuMicros);
  const scale =
    (panelWidth - labelWidth - valueWidth) / Math.max(...figures.map((value) => value ?? 0));
  const bars = results.map(({ stack: { title, packages, isPassThrough } }, index) => {
    const middle = 24 + index * barHeight + barHeight / 2;
    const micros = figures[index];
    const length = ((micros ?? 0) * scale || 0).toFixed(1);
    const kind = isPassThrough ? 'limit' : packages.length === 0 ? 'ours' : 'peer';
    return `<text x="${labelWidth - 8}" y="${middle + 4}" text-anchor="end">${escapeXml(title)}</text>
<rect class="${kind}" x="${labelWidth}" y="${middle - 7}" width="${length}" height="14" rx="2"/>
<text class="value" x="${labelWidth + Number(length) + 6}" y="${middle + 4}">${micros?.toFixed(0) ?? 'not measured'}</text>`;
  });
  return `<g transform="translate(${x} ${y})">
<text class="title" x="0" y="12">${escapeXml(workload.title)}</text>
${bars.join('\n')}
</g>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
