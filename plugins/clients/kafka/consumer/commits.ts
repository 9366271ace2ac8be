import type { Consumer, GroupAssignment, Offsets } from '@platformatic/kafka';

interface Offset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** Delay before failed commits are repeated, in milliseconds. */
const AGAIN_MS = 1000;
/** Leader epoch of an offset whose leader is unknown. */
const NO_EPOCH = -1;

type Client = Consumer<Buffer, Buffer, Buffer, Buffer>;

/** Commits offsets: one request at a time, with the latest offset of each partition, across successive clients. */
export class Commits {
  #client: Client | null = null;
  /** Assigned partitions, as in `orders:0`. */
  #own: ReadonlySet<string> = new Set();
  readonly #pending = new Map<string, Offset>();
  #committing: Promise<void> | null = null;
  #again: NodeJS.Timeout | null = null;

  /** @param offset offset of the next record to read. */
  commit(topic: string, partition: number, offset: bigint): void {
    this.#add({ topic, partition, offset });
    this.#run();
  }

  /**
   * Starts a member with its assigned partitions: offsets of others are ignored. Commits the starting position of
   * partitions without an offset, so that records written while the group has no reader are read later.
   * @param offsets where this member starts, by partition.
   */
  async begin(
    client: Client,
    assignments: readonly GroupAssignment[],
    offsets: ReadonlyMap<string, bigint>,
  ): Promise<void> {
    // A request that was sent over a lost client may remain without a response for a long time, so it is not awaited.
    if (this.#client !== client) this.#committing = null;
    this.#client = client;
    this.#own = new Set(assignments.flatMap(({ topic, partitions }) => partitions.map((one) => `${topic}:${one}`)));
    for (const place of this.#pending.keys()) if (!this.#own.has(place)) this.#pending.delete(place);
    if (assignments.length === 0) return;
    let committed: Offsets;
    try {
      committed = await client.listCommittedOffsets({ topics: [...assignments] });
    } catch {
      // The error is ignored: if the committed offsets cannot be read, records cannot be read either.
      return;
    }
    for (const { topic, partitions } of assignments) {
      for (const partition of partitions) {
        const offset = offsets.get(`${topic}:${partition}`);
        const known = committed.get(topic)?.[partition] ?? -1n;
        if (known < 0n && offset !== undefined) this.#add({ topic, partition, offset });
      }
    }
    this.#run();
  }

  /** Commits pending offsets, with one retry; the client must not be used afterwards, unless another one has replaced it. */
  async finish(client: Client): Promise<void> {
    await this.#committing;
    if (this.#client !== client) return;
    this.#run();
    await this.#committing;
    if (this.#client !== client) return;
    this.#client = null;
    if (this.#again) clearTimeout(this.#again);
    this.#again = null;
  }

  #add(offset: Offset): void {
    const place = placeOf(offset);
    const before = this.#pending.get(place);
    if (!before || before.offset < offset.offset) this.#pending.set(place, offset);
  }

  #run(): void {
    const client = this.#client;
    if (this.#committing || !client || this.#pending.size === 0) return;
    if (this.#again) clearTimeout(this.#again);
    this.#again = null;
    const committing = this.#commitAll(client).then(() => {
      if (this.#committing !== committing) return;
      this.#committing = null;
      // Commits offsets that arrived while the last request was ending.
      if (!this.#again) this.#run();
    });
    this.#committing = committing;
  }

  async #commitAll(client: Client): Promise<void> {
    // Offsets from the same turn of the event loop are committed together.
    await Promise.resolve();
    while (this.#pending.size > 0) {
      const offsets = [...this.#pending.values()];
      this.#pending.clear();
      try {
        await client.commit({ offsets: offsets.map((one) => ({ ...one, leaderEpoch: NO_EPOCH })) });
      } catch {
        // Errors are ignored, because the partitions may have been reassigned or the brokers may be unreachable. At
        // worst, records are read again.
        for (const offset of offsets) if (this.#own.has(placeOf(offset))) this.#add(offset);
        if (this.#client !== client) this.#run();
        else this.#again = setTimeout(() => this.#run(), AGAIN_MS).unref();
        return;
      }
    }
  }
}

function placeOf({ topic, partition }: Offset): string {
  return `${topic}:${partition}`;
}
