import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

/** Files in PEM for calls over TLS. */
export interface TlsFiles {
  /** The authorities to trust instead of Node's. */
  readonly caFile?: string | undefined;
  /** The client certificate, with the certificates of its issuers, and its private key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** Reads the files. @throws if one can't be used; the message names its variable. */
export function readTlsFiles({ caFile, certFile, keyFile }: TlsFiles): SecureContextOptions {
  const isCertificate = (pem: string) => new X509Certificate(pem);
  const cert = read('UPSTREAM_CERT_FILE', 'a certificate in PEM', certFile, isCertificate);
  return {
    ca: read('UPSTREAM_CA_FILE', 'certificates in PEM', caFile, isCertificate),
    cert,
    key: read(
      'UPSTREAM_KEY_FILE',
      'the private key of UPSTREAM_CERT_FILE in PEM, without a passphrase',
      keyFile,
      (key) => createSecureContext({ cert, key }),
    ),
  };
}

/** Reads a file. `check` throws if the text is not what is expected. */
function read(
  variable: string,
  expected: string,
  file: string | undefined,
  check: (pem: string) => void,
): string | undefined {
  if (file === undefined) return undefined;
  try {
    const pem = readFileSync(file, 'utf8');
    check(pem);
    return pem;
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`${variable}: expected ${expected}, in ${file}, found: ${message}`, { cause });
  }
}
