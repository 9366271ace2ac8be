import {
  type Call,
  type ClientRequest,
  type McpReply,
  type McpServer,
  oldestVersion,
  type Reply,
  refuse,
  refuseText,
  respondToMcp,
  type Step,
  writtenMessage,
} from '#contract';
import { hideParameters } from '../../shared/parameters/hidden.ts';
import { clientDigest } from './client-digest.ts';
import type { McpContext } from './observed.ts';
import { withRequestId } from './request-id.ts';
import type { OwnSessions, SessionLink } from './session-link.ts';

/** Query parameter that identifies the session whose stream receives the response. */
const SESSION = 'session_id';
/**
 * Names of query parameters that are masked in logs: without authentication, the session ID alone identifies the
 * client.
 */
const secrets = new Set([SESSION]);

/**
 * The HTTP+SSE transport of protocol version 2024-11-05: the client opens a stream, receives the URL to post messages
 * to, and gets the responses over the stream.
 */
export interface OlderTransport {
  readonly server: McpServer<McpContext>;
  readonly sessions: SessionLink;
  /** Reads the request body. @throws CallError if it is too long. */
  readonly textOf: (request: ClientRequest) => Promise<string>;
  readonly written: (reply: McpReply, call: Call) => Reply;
  /** Builds a reply that streams events. */
  readonly streamed: (body: Reply['body']) => Reply;
}

/** Whether a message uses the older transport. */
export function isOlder(request: ClientRequest): boolean {
  return request.search.includes(SESSION) && request.query.has(SESSION);
}

/** Opens a stream. Its first event contains the URL for messages, which has the path of the stream itself. */
export async function listenOlder(
  { sessions, streamed }: OlderTransport,
  request: ClientRequest,
  call: Call,
): Promise<Reply> {
  const own = sessions.of(clientDigest(request, call));
  return streamed(await own.begin((session) => `event: endpoint\ndata: ${request.path}?${SESSION}=${session}\n\n`));
}

/** Accepts a message. The response is sent over the session's stream, whichever process has it. */
export function takeOlder({ server, sessions: ofAll, textOf, written }: OlderTransport): Step<ClientRequest> {
  const { connections } = ofAll;
  return async (request, call) => {
    hideParameters(request, call, secrets);
    const sessions = ofAll.of(clientDigest(request, call));
    const session = request.query.get(SESSION)!;
    if ((await sessions.version(session)) === null) return refuse(404);
    const text = await textOf(request);
    const refusal = refuseText(text);
    if (refusal) return written(refusal, call);
    const ended = connections.begin(session);
    if (!ended) return refuse(429);
    // The response is produced in a fork of the call, which keeps the deadline but may continue after this request has
    // ended.
    const part = call.fork();
    const answer = async (): Promise<void> => {
      try {
        const own = { ...server, olderVersions: [oldestVersion], sessions: within(sessions, session) };
        const { message } = await respondToMcp(own, messageOf(request, text, session), {
          client: request,
          call: part,
          running: connections,
        });
        if (message !== null) sessions.send(session, writtenMessage(withRequestId(message, part), 'events'));
      } finally {
        part.finish();
        ended();
      }
    };
    call.background(answer());
    return refuse(202);
  };
}

/** Restricts the sessions to the one that was opened with the stream. */
function within(sessions: OwnSessions, session: string): OwnSessions {
  return { ...sessions, open: async () => session, version: async () => oldestVersion };
}

function messageOf({ headers }: ClientRequest, text: string, session: string) {
  return {
    text,
    header: (name: string) => (name.toLowerCase() === 'mcp-session-id' ? session : headers.get(name.toLowerCase())),
  };
}
