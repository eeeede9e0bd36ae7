/** Minimum length of a key to redact. A shorter key is no secret and may match any word. */
const minKeyLength = 8;

/** Redacts the caller's key in a text of the service. The key in another encoding is not found. */
export function redactKey(text: string, apiKey: string): string {
  return apiKey.length < minKeyLength ? text : text.replaceAll(apiKey, '[API key]');
}
