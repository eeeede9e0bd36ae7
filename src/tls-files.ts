import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

/** Files in PEM for one end of a TLS connection. */
export interface TlsFiles {
  /** The authorities to trust instead of Node's. */
  readonly caFile?: string | undefined;
  /** The own certificate, with the certificates of its issuers, and its private key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/**
 * Reads the files. @throws if one can't be used; the message names its variable, such as
 * `UPSTREAM_CA_FILE` with the prefix `UPSTREAM`.
 */
export function readTlsFiles(
  prefix: 'UPSTREAM' | 'TLS',
  { caFile, certFile, keyFile }: TlsFiles,
): SecureContextOptions {
  const ca = read(`${prefix}_CA`, caFile, 'certificates', checkCertificates);
  const cert = read(`${prefix}_CERT`, certFile, 'a certificate', checkCertificates);
  const ownKey = `the key of ${prefix}_CERT_FILE without a passphrase`;
  const key = read(`${prefix}_KEY`, keyFile, ownKey, (pem) => {
    createSecureContext({ cert, key: pem });
    // It accepts the key of another certificate if their algorithms differ.
    const isOwn = cert && new X509Certificate(cert).checkPrivateKey(createPrivateKey(pem));
    if (!isOwn) throw new Error('the key of another certificate');
  });
  return { ca, cert, key };
}

/** @throws if one of the certificates is damaged. Node reads only the first. */
function checkCertificates(pem: string): void {
  const texts = pem.split(/^(?=.*BEGIN .*CERTIFICATE-)|(?<=END .*CERTIFICATE-.*\n)/m);
  const certificates = texts.filter((text) => /(?:BEGIN|END) .*CERTIFICATE-/.test(text));
  for (const one of certificates.length > 0 ? certificates : [pem]) new X509Certificate(one);
}

/** Reads a file. `check` throws if the text is not what is expected. */
function read(
  name: string,
  file: string | undefined,
  expected: string,
  check: (pem: string) => void,
): string | undefined {
  try {
    const pem = file && readFileSync(file, 'utf8');
    if (pem !== undefined) check(pem);
    return pem;
  } catch (cause) {
    const problem = `expected ${expected} in PEM, in ${file}, found: ${(cause as Error).message}`;
    throw new Error(`${name}_FILE: ${problem}`, { cause });
  }
}
