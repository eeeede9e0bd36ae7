/** Shows how many bytes of the work are done, on a terminal: in one line, which is rewritten until it ends. */
export function showProgress<T>(work: Promise<T>, done: () => number, total?: number): Promise<T> {
  if (!process.stderr.isTTY) return work;
  const megabytes = (bytes: number) => Math.round(bytes / 1e6).toLocaleString('en');
  const all = total === undefined ? '' : ` of ${megabytes(total)}`;
  const show = () => process.stderr.write(`\r${megabytes(done())}${all} MB`);
  const timer = setInterval(show, 100);
  return work.finally(() => {
    clearInterval(timer);
    process.stderr.write('\r\x1b[K');
  });
}
