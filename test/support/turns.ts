/** Counts the turns of the event loop until it is disposed. */
export function countTurns() {
  const counted = { turns: 0, [Symbol.dispose]: () => clearImmediate(next) };
  const count = () => {
    counted.turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  return counted;
}
