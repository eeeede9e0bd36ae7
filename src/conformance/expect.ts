import { decodeErrorBody, decodeList, decodeRecord } from '../contract/codec.ts';
import { InvalidResponseError } from '../contract/error.ts';
import { decodeUtf8, parseJson, shown } from '../contract/json.ts';
import type { List } from '../contract/operation.ts';
import type { Fields, RecordOf, RecordType } from '../contract/record.ts';
import type { ServiceResponse } from './http-client.ts';

/** Returns the records of a list. @throws InvalidResponseError unless it is a 200 with at most `limit`. */
export function expectList<Of extends Fields>(
  list: List<Of>,
  response: ServiceResponse,
  limit: number,
): RecordOf<Of>[] {
  expectStatus(response, 200);
  const json = readResponseJson(response);
  const type = list.listOf;
  const records = decodeList(list, json).map((record, index) =>
    exact(type, record, (json as unknown[])[index]),
  );
  requireThat(
    records.length <= limit,
    `expected at most ${formatCount(type, limit)}, received ${records.length}`,
  );
  const ids = records.map((record) => (record as Readonly<Record<string, unknown>>)[type.id.name]);
  const duplicate = ids.find((id, index) => ids.indexOf(id) !== index);
  requireThat(duplicate === undefined, `the id ${duplicate} appears twice`);
  return records;
}

/** Returns the record of a response. @throws InvalidResponseError unless it is one with this status. */
export function expectRecord<Of extends Fields>(
  type: RecordType<Of>,
  response: ServiceResponse,
  status: number,
): RecordOf<Of> {
  expectStatus(response, status);
  const json = readResponseJson(response);
  return exact(type, decodeRecord(type, json), json);
}

/** Compares a record with the one that was sent. @throws InvalidResponseError if a field differs. */
export function expectSame(
  record: Readonly<Record<string, unknown>>,
  sent: Readonly<Record<string, unknown>>,
): void {
  for (const [name, value] of Object.entries(sent)) {
    const received = record[name];
    const problem = `${name}: expected ${shown(value)}, received ${shown(received)}`;
    requireThat(received === value, problem);
  }
}

/** Describes an error. @throws InvalidResponseError unless it and its Error body have this status. */
export function expectError(response: ServiceResponse, status: number): string {
  expectStatus(response, status);
  const body = decodeErrorBody(readResponseJson(response));
  requireThat(body !== undefined, 'expected an Error body with code, message and status');
  const problem = `status in the Error body: expected ${status}, received ${body.status}`;
  requireThat(body.status === status, problem);
  return `${status}, code ${shown(body.code)}`;
}

/** Checks the HTTP status. @throws InvalidResponseError for another one. */
export function expectStatus(response: ServiceResponse, status: number): void {
  requireThat(response.status === status, `expected ${status}, received ${describe(response)}`);
}

/** Summarizes a response on one line. */
export function describe(response: ServiceResponse): string {
  try {
    const json = readResponseJson(response);
    const code = decodeErrorBody(json)?.code;
    const what = Array.isArray(json) ? `an array of ${json.length}` : 'JSON';
    return `${response.status}, ${code === undefined ? what : `code ${shown(code)}`}`;
  } catch (error) {
    return `${response.status}, ${(error as Error).message}`;
  }
}

/** Returns the text of a body. @throws InvalidResponseError unless it is JSON in UTF-8 without an encoding. */
export function readText({ headers, body }: ServiceResponse): string {
  const encoding = headers['content-encoding'] ?? '';
  const encoded = `content-encoding: expected none, received ${shown(encoding)}`;
  requireThat(/^(?:identity|[\s,])*$/i.test(encoding), encoded);
  const type = headers['content-type'];
  requireThat(
    /^application\/json\s*(?:;|$)/i.test(type ?? ''),
    `content-type: expected application/json, received ${shown(type)}`,
  );
  try {
    const text = decodeUtf8(body);
    parseJson(text);
    return text;
  } catch {
    throw new InvalidResponseError('body: expected valid JSON in UTF-8');
  }
}

/** Parses a body. @throws as `readText` does */
export const readResponseJson = (response: ServiceResponse): unknown =>
  parseJson(readText(response));

/** Formats a number of records. */
export function formatCount({ singular, plural }: RecordType, count: number): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Rejects what the decoder tolerates in optional fields: an invalid value, and `null` for none. */
function exact<Of extends Fields>(
  { fields }: RecordType<Of>,
  record: RecordOf<Of>,
  json: unknown,
): RecordOf<Of> {
  for (const name of Object.keys(fields)) {
    const value = (record as Readonly<Record<string, unknown>>)[name];
    if (value instanceof Error) throw value;
    const isNull = (json as Record<string, unknown>)[name] === null;
    requireThat(!isNull, `${name}: expected a value or none, received null`);
  }
  return record;
}

/** Requires something. @throws InvalidResponseError with the expected and the received value. */
export function requireThat(isMet: boolean, problem: string): asserts isMet {
  if (!isMet) throw new InvalidResponseError(problem);
}
