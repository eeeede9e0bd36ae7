/** Redacts the caller's key in a text of the service. The key in another encoding is not found. */
export function redactKey(text: string, apiKey: string): string {
  // A shorter key is no secret, and may match any word.
  return apiKey.length < 8 ? text : text.replaceAll(apiKey, '[API key]');
}
