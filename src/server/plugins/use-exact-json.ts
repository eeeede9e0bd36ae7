import { GraphQLError } from 'graphql';
import { type GraphQLParams, type Plugin, processRegularResult } from 'graphql-yoga';
import { parseJson, stringifyJson } from '../../contract/json.ts';
import { BodyTooLargeError, hasJsonBody, readText } from '../../http/body.ts';

/**
 * Reads requests and writes responses without losing a digit. Requests are JSON bodies or GET
 * parameters and nothing else: a form, which any web page may submit, carries no operation.
 */
export function useExactJson(): Plugin {
  return {
    onRequestParse({ request, setRequestParser }) {
      if (request.method === 'GET') setRequestParser(parseGet);
      if (request.method === 'POST') setRequestParser(parsePost);
    },
    onResultProcess({ result, resultProcessor, setResultProcessor }) {
      Object.assign(result, { stringify: stringifyJson });
      // Nothing is streamed here. A client that asks for anything but JSON gets JSON all the same.
      if (resultProcessor !== processRegularResult) {
        setResultProcessor(processRegularResult, 'application/json');
      }
    },
  };
}

function parseGet({ url }: Request): GraphQLParams {
  const { searchParams } = new URL(url);
  const json = (name: string) => {
    const text = searchParams.get(name);
    return text ? parseObject(name, text) : undefined;
  };
  const query = searchParams.get('query');
  const operationName = searchParams.get('operationName');
  const variables = json('variables');
  const extensions = json('extensions');
  return {
    ...(query !== null && { query }),
    ...(operationName && { operationName }),
    ...(variables && { variables }),
    ...(extensions && { extensions }),
  };
}

async function parsePost(request: Request): Promise<GraphQLParams> {
  if (!hasJsonBody(request)) {
    throw badRequest(
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'content-type: expected application/json in UTF-8.',
    );
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
  return parseObject('body', text);
}

function parseObject(name: string, text: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    // The parser's own words would quote the body.
    throw badRequest(400, 'BAD_REQUEST', `${name}: expected JSON, received other text.`);
  }
  if (Array.isArray(json)) {
    throw badRequest(400, 'BAD_REQUEST', `${name}: expected a JSON object, received an array.`);
  }
  if (typeof json !== 'object' || json === null) {
    throw badRequest(400, 'BAD_REQUEST', `${name}: expected a JSON object.`);
  }
  return json as Record<string, unknown>;
}

function badRequest(status: number, code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status } } });
}
