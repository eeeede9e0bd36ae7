/** Shows how many bytes are done, on a terminal: in one line, which is rewritten until it is disposed. */
export function showProgress(done: () => number, total?: number): Disposable {
  const megabytes = (bytes: number) => Math.round(bytes / 1e6).toLocaleString('en');
  const all = total === undefined ? '' : ` of ${megabytes(total)}`;
  const show = () => process.stderr.write(`\r${megabytes(done())}${all} MB`);
  const timer = process.stderr.isTTY ? setInterval(show, 100) : undefined;
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      if (timer) process.stderr.write('\r\x1b[K');
    },
  };
}
