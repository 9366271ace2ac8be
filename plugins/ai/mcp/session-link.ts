import { randomUUID } from 'node:crypto';
import { ByteStream, type Data, type McpSessions, type RequestId, type Site } from '#contract';
import { type ConnectionChange, Connections, type Listener } from './connections.ts';
import { type SessionQuestion, Sessions } from './sessions.ts';

/** How often a client that listens is sent something when it is not asked whether it is there, in milliseconds. */
const HEARTBEAT_MS = 30_000;

/** The sessions of a server, as seen from one process of the gateway: all processes know the same ones. */
export interface SessionLink extends McpSessions {
  /** What this process does for their clients. */
  readonly connections: Connections;
  /** A stream of what is asked of a client, in the place of the one that it had. */
  listen(session: string): Promise<ByteStream>;
}

/**
 * @param name of the server: its sessions stay for as long as a configuration has one of that name.
 * @param pingMs how often clients that listen are asked whether they are there; 0 for never.
 */
export function linkSessions(site: Site<unknown>, name: string, pingMs: number): SessionLink {
  const clock = site.use('clock');
  const share = site.share<Sessions, Data, Data>(
    ['sessions', name],
    () => new Sessions(),
    (sessions, question) => sessions.reply(question as unknown as SessionQuestion, clock.now()),
  );
  const ask = async (question: SessionQuestion) => (await share({ ...question })) as string | null;
  const mirror = site.mirror<Connections, Data>(['connections', name], {
    open: () => new Connections(),
    apply: (connections, change) => connections.apply(change as unknown as ConnectionChange),
    // A process that starts has no clients yet.
    snapshot: () => ({ session: '' }),
  });
  const change = (said: ConnectionChange) => mirror.change({ ...said });
  const connections = mirror.value;
  return {
    connections,
    open: async (version) => (await ask({ ask: 'open', version }))!,
    version: (session) => ask({ ask: 'version', session }),
    async end(session) {
      await ask({ ask: 'end', session });
      change({ session, except: '' });
    },
    async responded(session, id) {
      if (typeof id === 'string') await ask({ ask: 'responded', session, ping: id });
    },
    cancelled(session: string, request: RequestId) {
      change({ session, request });
    },
    async listen(session) {
      const stream = new PingedStream(pingMs, (ping) => ask({ ask: 'listen', session, ping }));
      stream.over = () => connections.left(session, stream);
      connections.listen(session, stream);
      change({ session, except: stream.id });
      await ask({ ask: 'listen', session, ping: '' });
      return stream.body;
    },
  };
}

/**
 * Server-sent events to a client that listens. It is asked whether it is there, or sent a comment; one that does not read,
 * does not respond, or whose session is over, is not kept.
 */
class PingedStream implements Listener {
  readonly id = randomUUID();
  readonly body: ByteStream;
  /** Called once. */
  over: () => void = () => {};
  readonly #pings: boolean;
  readonly #isThere: (ping: string) => Promise<string | null>;
  readonly #timer: NodeJS.Timeout;
  #isFull = false;
  #isAsking = false;

  constructor(pingMs: number, isThere: (ping: string) => Promise<string | null>) {
    this.#pings = pingMs > 0;
    this.#isThere = isThere;
    this.#timer = setInterval(() => void this.#tick(), pingMs || HEARTBEAT_MS);
    this.body = new ByteStream({
      resume: () => {
        this.#isFull = false;
      },
      cancel: () => this.#stop(),
    });
  }

  end(): void {
    this.#stop();
    this.body.end();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.over();
  }

  async #tick(): Promise<void> {
    const ping = this.#pings ? `ping-${randomUUID()}` : '';
    if (this.#isFull || this.#isAsking) return this.#cut();
    this.#isAsking = true;
    const session = await this.#isThere(ping).catch(() => null);
    this.#isAsking = false;
    if (session === null) return this.end();
    const text =
      ping === ''
        ? ':\n\n'
        : `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: ping, method: 'ping' })}\n\n`;
    this.#isFull = !this.body.write(Buffer.from(text));
  }

  /** Whoever reads nothing would not see an end either. */
  #cut(): void {
    this.#stop();
    if (this.#isFull) this.body.fail(new Error('the client does not read'));
    else this.body.end();
  }
}
