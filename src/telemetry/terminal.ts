/**
 * Formats a log line for a terminal: time, level, message, and the rest as `name=value`, with
 * control characters escaped. A line that is not a JSON object is only escaped.
 */
export function formatForTerminal(line: string): string {
  return `${escapeControls(format(line))}\n`;
}

/**
 * Escapes control characters, with which a client or the REST service could manipulate the
 * terminal.
 */
export function escapeControls(text: string): string {
  return text.replace(
    controlCharacters,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * C0, DEL, C1, line separators, and characters that change the direction of text (Bidi_Control).
 */
const controlCharacters = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

function format(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line);
  } catch {
    return line.replace(/\n$/, '');
  }
  const { level, time, msg, ...rest } = entry;
  const details = Object.entries(rest)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
    .map(
      ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
  const clock = String(time).slice(11, 23);
  return `${clock} ${String(level).toUpperCase().padEnd(5)} ${msg}${details.join('')}`;
}
