import { HttpError } from './error.ts';

const json = /^application\/json\s*(?:;\s*charset="?utf-?8"?\s*)?;?$/i;

/** Whether a `Content-Type` says `application/json`; a charset must be UTF-8. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType === 'application/json' || json.test(contentType ?? '');
}

/** The refusal of a body whose `Content-Type` is not JSON's. */
export function unsupportedMediaType(contentType: string | undefined): HttpError {
  const received = contentType === undefined ? 'none' : JSON.stringify(contentType.slice(0, 100));
  return new HttpError(
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    `content-type: expected application/json in UTF-8, received ${received}.`,
  );
}

const written = /application\/graphql-response\+json|application\/json|application\/\*|\*\/\*/i;

/**
 * The media type of a GraphQL response (GraphQL over HTTP, section 6.3): the first that `Accept`
 * names of the two, `application/json` for clients that name neither.
 */
export function graphqlMediaType(
  accept: string | undefined,
): 'application/json' | 'application/graphql-response+json' {
  const first = accept && written.exec(accept)?.[0].toLowerCase();
  return first === 'application/graphql-response+json' ? first : 'application/json';
}
