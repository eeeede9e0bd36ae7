import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its private key: texts in PEM, and the files that contain them. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'ignore' });
}

/** Creates a private authority with openssl. Disposing it removes its files. */
export function createAuthority() {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  const file = (name: string) => join(folder, name);
  const [caFile, caKey] = [file('ca.pem'), file('ca-key.pem')];
  openssl('req', '-x509', ...curve, '-keyout', caKey, '-out', caFile, '-subj', '/O=Pets/CN=CA');
  let issued = 0;
  return {
    caFile,
    ca: readFileSync(caFile, 'utf8'),
    /** Writes a text to a file of its own and returns the path. */
    write(name: string, text: string): string {
      writeFileSync(file(name), text);
      return file(name);
    },
    /** Issues a certificate for a subject alternative name such as `IP:127.0.0.1`, and a key of this kind. */
    issue(name: string, kind = curve): Certificate {
      issued++;
      const [certFile, keyFile] = [file(`${issued}.pem`), file(`${issued}-key.pem`)];
      const [request, extensions] = [file(`${issued}.csr`), file(`${issued}.ext`)];
      writeFileSync(extensions, `subjectAltName=${name}\n`);
      openssl('req', ...kind, '-keyout', keyFile, '-out', request, '-subj', `/O=Pets/CN=${issued}`);
      const sign = ['x509', '-req', '-in', request, '-CA', caFile, '-CAkey', caKey];
      openssl(...sign, '-CAcreateserial', '-days', '2', '-extfile', extensions, '-out', certFile);
      const [cert, key] = [readFileSync(certFile, 'utf8'), readFileSync(keyFile, 'utf8')];
      return { cert, key, certFile, keyFile };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
