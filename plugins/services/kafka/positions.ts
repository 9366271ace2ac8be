/** A partition of a topic, as in `orders:0`. */
export type PartitionKey = string;

interface Position {
  /** The highest offset of a record that was taken. */
  highest: bigint;
  /** The latest time of a record that was taken, in milliseconds since 1970. */
  latest: bigint;
  /** Records that were taken and are not done. */
  readonly open: Set<bigint>;
}

/** Which records of each partition were taken, and which of them are done: what can be committed, and what comes twice. */
export class Positions {
  readonly #all = new Map<PartitionKey, Position>();

  /**
   * A record is taken. @returns false for one that was taken before: a group that gives out its partitions anew begins where
   * it had committed. A topic that was deleted and made again has low offsets and later times.
   */
  take(partition: PartitionKey, offset: bigint, time: bigint): boolean {
    const position = this.#all.get(partition);
    if (!position || (offset <= position.highest && time > position.latest)) {
      this.#all.set(partition, { highest: offset, latest: time, open: new Set([offset]) });
      return true;
    }
    if (offset <= position.highest) return false;
    position.highest = offset;
    if (time > position.latest) position.latest = time;
    position.open.add(offset);
    return true;
  }

  /** A record is done. @returns the offset up to which all are, exclusive; undefined where an earlier one is not. */
  done(partition: PartitionKey, offset: bigint): bigint | undefined {
    const position = this.#all.get(partition);
    if (!position?.open.delete(offset)) return undefined;
    for (const open of position.open) {
      // They were taken in order.
      return open < offset ? undefined : open;
    }
    return position.highest + 1n;
  }

  /** Records from an offset on were not done and are not there any more: they will be taken again. */
  giveBack(partition: PartitionKey, offset: bigint): void {
    const position = this.#all.get(partition);
    if (!position) return;
    if (position.highest >= offset) position.highest = offset - 1n;
    for (const open of position.open) if (open >= offset) position.open.delete(open);
  }

  /** Forgets partitions that others read now. */
  keepOnly(isKept: (partition: PartitionKey) => boolean): void {
    for (const partition of this.#all.keys()) if (!isKept(partition)) this.#all.delete(partition);
  }
}
