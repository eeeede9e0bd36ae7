import type { ExecutionResult } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { BodyTooLargeError, isJsonType, notJsonType, readText } from '../../http/body.ts';
import { badRequest, parseParams } from '../params.ts';
import { writeResult } from '../result.ts';

/**
 * Reads requests and writes responses without losing a digit. Requests are JSON bodies or GET
 * parameters and nothing else: a form, which any web page may submit, carries no operation. Nothing
 * is streamed: whatever a client accepts, it gets JSON.
 */
export function useExactJson(): Plugin {
  return {
    onRequestParse({ request, setRequestParser }) {
      if (request.method === 'GET') setRequestParser(parseGet);
      if (request.method === 'POST') setRequestParser(parsePost);
    },
    onResultProcess({ request, setResultProcessor }) {
      setResultProcessor((result, { Response }) => {
        const accept = request.headers.get('accept');
        const { status, headers, body } = writeResult(result as ExecutionResult, accept);
        return new Response(body, { status, headers });
      }, 'application/json');
    },
  };
}

function parseGet({ url }: Request): GraphQLParams {
  const { searchParams } = new URL(url);
  const json = (name: string) => {
    const text = searchParams.get(name);
    return text ? parseParams(name, text) : undefined;
  };
  const query = searchParams.get('query');
  const operationName = searchParams.get('operationName');
  const documentId = searchParams.get('documentId');
  const variables = json('variables');
  const extensions = json('extensions');
  return {
    ...(query !== null && { query }),
    ...(operationName && { operationName }),
    ...(documentId && { documentId }),
    ...(variables && { variables }),
    ...(extensions && { extensions }),
  };
}

async function parsePost(request: Request): Promise<GraphQLParams> {
  const contentType = request.headers.get('content-type');
  if (!isJsonType(contentType)) {
    throw badRequest(415, 'UNSUPPORTED_MEDIA_TYPE', notJsonType(contentType));
  }
  let text: string;
  try {
    text = await readText(request);
  } catch (error) {
    if (error instanceof BodyTooLargeError) {
      throw badRequest(413, 'BODY_TOO_LARGE', error.message);
    }
    throw badRequest(400, 'BAD_REQUEST', 'body: expected UTF-8 text, whole.');
  }
  return parseParams('body', text);
}
