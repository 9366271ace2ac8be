import { type ByteStream, type Data, type McpSessions, oldestVersion, type RequestId, type Site } from '#contract';
import { ClientStream } from './client-stream.ts';
import { type ConnectionChange, Connections } from './connections.ts';
import { type OwnedQuestion, type SessionQuestion, Sessions } from './sessions.ts';

/** The sessions of a server, as seen from one process of the gateway: all processes know the same ones. */
export interface SessionLink {
  /** What this process does for their clients. */
  readonly connections: Connections;
  /** @param owner digest of a client, empty without authentication. Sessions of other clients are not visible to it. */
  of(owner: string): OwnSessions;
}

/** The sessions of one client. */
export interface OwnSessions extends McpSessions {
  /** A stream of what is asked of a client, in the place of the one that it had. */
  listen(session: string): Promise<ByteStream>;
  /** A stream with a session that begins and ends with it. @param first event, by the name of the session. */
  begin(first: (session: string) => string): Promise<ByteStream>;
  /** An event for the stream of a session; nothing where that is over. */
  send(session: string, event: string): void;
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
    (sessions, question) => sessions.reply(question as unknown as OwnedQuestion, clock.now()),
  );
  const mirror = site.mirror<Connections, Data>(['connections', name], {
    open: () => new Connections(),
    apply: (connections, change) => connections.apply(change as unknown as ConnectionChange),
    // A process that starts has no clients yet.
    snapshot: () => ({ session: '' }),
  });
  const change = (said: ConnectionChange) => mirror.change({ ...said });
  const connections = mirror.value;
  const of = (owner: string): OwnSessions => {
    const ask = async (question: SessionQuestion) => (await share({ ...question, owner })) as string | null;
    return {
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
      async begin(first) {
        const session = (await ask({ ask: 'open', version: oldestVersion }))!;
        const stream = new ClientStream(pingMs, (ping) => ask({ ask: 'listen', session, ping }));
        stream.over = () => {
          connections.left(session, stream);
          change({ session, left: true });
          // The session ends with the stream: its client cannot be reached any more.
          ask({ ask: 'end', session }).catch(() => {});
        };
        connections.listen(session, stream);
        stream.send(first(session));
        return stream.body;
      },
      send(session, event) {
        if (!connections.send(session, event)) change({ session, message: event });
      },
      async listen(session) {
        const stream = new ClientStream(pingMs, (ping) => ask({ ask: 'listen', session, ping }));
        stream.over = () => connections.left(session, stream);
        connections.listen(session, stream);
        change({ session, except: stream.id });
        await ask({ ask: 'listen', session, ping: '' });
        return stream.body;
      },
    };
  };
  return { connections, of };
}
