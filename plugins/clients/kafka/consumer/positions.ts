/** A partition of a topic, as in `orders:0`. */
export type PartitionKey = string;

interface Position {
  /** Highest offset of a received record. */
  highest: bigint;
  /** Latest timestamp of a received record, in milliseconds since 1970. */
  latest: bigint;
  /** Offsets of records that were received and are not processed yet. */
  readonly open: Set<bigint>;
}

/** Tracks which records of each partition were received and which were processed: determines what can be committed, and detects duplicates. */
export class Positions {
  readonly #all = new Map<PartitionKey, Position>();

  /**
   * Marks a record as received. @returns false for one that was already received: after a rebalance a group starts from
   * its committed offsets. A topic that was deleted and re-created has low offsets with later timestamps.
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

  /** Marks a record as processed. @returns the exclusive offset up to which all records are processed; undefined if an earlier one is not. */
  done(partition: PartitionKey, offset: bigint): bigint | undefined {
    const position = this.#all.get(partition);
    if (!position?.open.delete(offset)) return undefined;
    for (const open of position.open) {
      // Records arrive in the order of their offsets, so the first open one has the lowest offset.
      return open < offset ? undefined : open;
    }
    return position.highest + 1n;
  }

  /** Marks unprocessed records from an offset on as dropped: they will be received again. */
  giveBack(partition: PartitionKey, offset: bigint): void {
    const position = this.#all.get(partition);
    if (!position) return;
    if (position.highest >= offset) position.highest = offset - 1n;
    for (const open of position.open) if (open >= offset) position.open.delete(open);
  }

  /** Drops partitions that are assigned to other members. */
  keepOnly(isKept: (partition: PartitionKey) => boolean): void {
    for (const partition of this.#all.keys()) if (!isKept(partition)) this.#all.delete(partition);
  }
}
