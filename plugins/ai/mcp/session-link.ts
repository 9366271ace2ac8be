import { type ByteStream, type Data, type McpSessions, oldestVersion, type RequestId, type Site } from '#contract';
import { ClientStream } from './client-stream.ts';
import { type ConnectionChange, Connections } from './connections.ts';
import { type OwnedQuestion, type SessionQuestion, Sessions } from './sessions.ts';

/** The sessions of a server, as seen from one process of the gateway. All processes share the same sessions. */
export interface SessionLink {
  /** Streams and calls of the server's clients in this process. */
  readonly connections: Connections;
  /**
   * Returns the sessions of one client.
   * @param owner digest of the client; empty without authentication. Sessions of other clients are not visible to it.
   */
  of(owner: string): OwnSessions;
}

/** The sessions of one client. */
export interface OwnSessions extends McpSessions {
  /** Opens a stream of requests from the server to the client, and replaces the session's previous stream. */
  listen(session: string): Promise<ByteStream>;
  /**
   * Opens a stream and a session that lasts as long as the stream.
   * @param first builds the first event from the session ID.
   */
  begin(first: (session: string) => string): Promise<ByteStream>;
  /** Sends an event over the session's stream. Does nothing if the stream has ended. */
  send(session: string, event: string): void;
}

/**
 * Connects this process to the sessions of a server.
 * @param name server name. Sessions continue across reloads as long as the configuration has a server with this name.
 * @param pingMs interval of pings to listening clients; 0 disables them.
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
    // A process that starts has no clients yet, so its copy begins empty.
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
          // The session ends with its stream, because the client cannot be reached without it.
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
