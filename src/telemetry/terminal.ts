/** Formats a log line as time, level, message and `name=value`, with control characters escaped. */
export function formatForTerminal(line: string): string {
  const { level, time, msg, ...rest } = JSON.parse(line);
  const details = Object.entries(rest)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
    .map(
      ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
  const text = `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${msg}${details.join('')}`;
  return `${escapeControls(text)}\n`;
}

/** Escapes control characters, with which clients or the service could manipulate the terminal. */
export function escapeControls(text: string): string {
  return text.replace(
    controlCharacters,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** C0, DEL, C1, line separators, and those that change the direction of text (Bidi_Control). */
const controlCharacters = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
