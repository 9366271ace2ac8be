import type { Consumer, GroupAssignment, Offsets } from '@platformatic/kafka';

interface Offset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** Wait before offsets that were not committed are tried again, in milliseconds. */
const AGAIN_MS = 1000;
/** Of an offset whose leader nobody has asked for. */
const NO_EPOCH = -1;

type Client = Consumer<Buffer, Buffer, Buffer, Buffer>;

/** Commits offsets: one request at a time, with the latest of each partition, over one client after another. */
export class Commits {
  #client: Client | null = null;
  /** Partitions of the member, as in `orders:0`. */
  #own: ReadonlySet<string> = new Set();
  readonly #pending = new Map<string, Offset>();
  #committing: Promise<void> | null = null;
  #again: NodeJS.Timeout | null = null;

  /** @param offset of the next record to be read. */
  commit(topic: string, partition: number, offset: bigint): void {
    this.#add({ topic, partition, offset });
    this.#run();
  }

  /**
   * A member has its partitions: offsets of others are none of its business. Commits where the group begins that has no offset yet: what is written while nobody reads is read later.
   * @param offsets where this member begins, by partition.
   */
  async begin(
    client: Client,
    assignments: readonly GroupAssignment[],
    offsets: ReadonlyMap<string, bigint>,
  ): Promise<void> {
    // What one that was lost is still being asked may have no answer for long.
    if (this.#client !== client) this.#committing = null;
    this.#client = client;
    this.#own = new Set(assignments.flatMap(({ topic, partitions }) => partitions.map((one) => `${topic}:${one}`)));
    for (const place of this.#pending.keys()) if (!this.#own.has(place)) this.#pending.delete(place);
    if (assignments.length === 0) return;
    let committed: Offsets;
    try {
      committed = await client.listCommittedOffsets({ topics: [...assignments] });
    } catch {
      // Whatever is wrong, records cannot be read either.
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

  /** Commits what is pending, once more where it fails; the client is of no use after it, unless another one is in its place. */
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
      // What came in the moment in which it ended.
      if (!this.#again) this.#run();
    });
    this.#committing = committing;
  }

  async #commitAll(client: Client): Promise<void> {
    // What is done in the same turn of the loop is committed together.
    await Promise.resolve();
    while (this.#pending.size > 0) {
      const offsets = [...this.#pending.values()];
      this.#pending.clear();
      try {
        await client.commit({ offsets: offsets.map((one) => ({ ...one, leaderEpoch: NO_EPOCH })) });
      } catch {
        // The partitions may be those of others by now, or the brokers are gone: at worst records are read again.
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
