import { HttpError } from './error.ts';

const json = /^application\/json\s*(?:;\s*charset="?utf-?8"?\s*)?;?$/i;

/** Whether a `Content-Type` is `application/json`, in UTF-8 if it names a charset. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType === 'application/json' || json.test(contentType ?? '');
}

/** 415: the `Content-Type` of the body is not JSON. */
export function unsupportedMediaType(contentType: string | undefined): HttpError {
  const received = contentType === undefined ? 'none' : JSON.stringify(contentType.slice(0, 100));
  return new HttpError(
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    `content-type: expected application/json in UTF-8, received ${received}.`,
  );
}

const acceptable = /application\/graphql-response\+json|application\/json|application\/\*|\*\/\*/i;

/**
 * Returns the media type of a GraphQL response (GraphQL over HTTP, section 6.3): the first of the two
 * in `Accept`, or `application/json` if it contains neither.
 */
export function graphqlMediaType(
  accept: string | undefined,
): 'application/json' | 'application/graphql-response+json' {
  const first = accept && acceptable.exec(accept)?.[0].toLowerCase();
  return first === 'application/graphql-response+json' ? first : 'application/json';
}
