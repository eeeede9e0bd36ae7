import { styleText } from 'node:util';

/** Whether to show colours, which `NO_COLOR` turns off. */
const terminal = { stream: process.stderr };

/** Formats a log line as time, level, message and `name=value`. What went wrong is coloured. */
export function formatForTerminal(line: string): string {
  const { level, time, msg, requestId, traceId, ...rest } = JSON.parse(line);
  const details = Object.entries({ ...rest, requestId, traceId })
    .filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => {
      const text = `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
      const isFailure = name === 'codes' || (name === 'status' && Number(value) >= 400);
      return ` ${styleText(isFailure ? 'red' : [], escapeControls(text), terminal)}`;
    });
  const color = level === 'warn' ? 'yellow' : /^(?:error|fatal)$/.test(level) ? 'red' : [];
  const label = styleText(color, level.toUpperCase().padEnd(5), terminal);
  return `${time.slice(11, 23)} ${label} ${escapeControls(msg)}${details.join('')}\n`;
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
