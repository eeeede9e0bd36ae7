/**
 * A log line for people at a terminal: time, level, message, and the rest as `name=value`. What is
 * no JSON object stays as it is.
 */
export function readable(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  const { level, time, msg, ...rest } = entry;
  const details = Object.entries(rest)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
    .map(
      ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
  const clock = String(time).slice(11, 23);
  return `${clock} ${String(level).toUpperCase().padEnd(5)} ${msg}${details.join('')}\n`;
}
