/** Counts the entries that a function adds to maps, including private ones. */
export function entriesAdded(run: () => void): number {
  const set = Map.prototype.set;
  let count = 0;
  Map.prototype.set = function counting(key, value) {
    if (!this.has(key)) count++;
    return set.call(this, key, value);
  };
  try {
    run();
  } finally {
    Map.prototype.set = set;
  }
  return count;
}
