import {
  type Call,
  type ClientRequest,
  HeaderBag,
  type McpReply,
  type McpServer,
  Reply,
  type ReplyForm,
  refuse,
  refuseSession,
  replyForm,
  replyHeaders,
  respondToMcp,
  type Step,
  writtenMessage,
} from '#contract';
import { clientDigest } from './client-digest.ts';
import type { McpContext, Running } from './observed.ts';
import { isOlder, listenOlder, type OlderTransport, takeOlder } from './older-transport.ts';
import type { AllowsOrigin } from './origin.ts';
import { withRequestId } from './request-id.ts';
import type { DeclaredServer } from './servers.ts';
import type { OwnSessions } from './session-link.ts';

/** Maximum size of a client message, in bytes, unless `max_payload` is lower. */
const MESSAGE_LIMIT_BYTES = 4 * 1024 * 1024;

/** An endpoint that serves an MCP server. */
export interface Entry {
  readonly declared: DeclaredServer;
  readonly cacheScope: McpServer<McpContext>['cacheScope'];
  readonly allowsOrigin: AllowsOrigin;
}

const nobody: Running = { enter: () => () => {} };

/** Handles POST: receives the client's messages. */
export function takeMessages({ declared, cacheScope, allowsOrigin }: Entry): Step<ClientRequest> {
  const { preferred, sessions: ofAll } = declared;
  const server = { ...declared.server, cacheScope };
  const running = ofAll?.connections ?? nobody;
  const older = olderTransport(declared, server);
  const answerOlder = older && takeOlder(older);
  return async (request, call) => {
    if (!allowsOrigin(request)) return foreignOrigin(call);
    const { headers } = request;
    const type = headers.get('content-type');
    if (type !== undefined && !/^application\/json[\t ]*(?:;|$)/i.test(type))
      return rejected(call, 415, 'the Content-Type must be application/json');
    if (answerOlder && isOlder(request)) return answerOlder(request, call);
    const form = replyForm(acceptOf(headers), preferred);
    if (form === null) return rejected(call, 406, 'the client must accept application/json or text/event-stream');
    const text = await textOf(request);
    const context: McpContext = { client: request, call, running };
    const own = ofAll === null ? server : { ...server, sessions: ofAll.of(clientDigest(request, call)) };
    const reply = await respondToMcp(own, { text, header: (name) => headers.get(name.toLowerCase()) }, context);
    return written(reply, form, call);
  };
}

/** Joins repeated `Accept` headers into one. */
function acceptOf(headers: HeaderBag): string | undefined {
  return headers.has('accept') ? headers.getAll('accept').join(',') : undefined;
}

async function textOf({ body }: ClientRequest): Promise<string> {
  if (!body) return '';
  body.restrict(MESSAGE_LIMIT_BYTES);
  return new TextDecoder().decode(await body.bytesToParse());
}

/** Writes a reply. Replies with a status other than 200 are always JSON, regardless of `Accept`. */
function written({ status, message, session }: McpReply, form: ReplyForm, call: Call): Reply {
  if (message === null) return refuse(status);
  const used = status === 200 ? form : 'json';
  const headers = new HeaderBag(replyHeaders(used));
  if (session !== undefined) headers.append('Mcp-Session-Id', session);
  const reply = Reply.raw(status, headers, Buffer.from(writtenMessage(withRequestId(message, call), used)));
  reply.complete = null;
  return reply;
}

/** Response to an invalid HTTP request, before any message is read. The body contains the reason. */
function rejected(call: Call, status: number, message: string): Reply {
  const error = withRequestId({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }, call);
  const reply = Reply.raw(status, new HeaderBag(replyHeaders('json')), Buffer.from(JSON.stringify(error)));
  reply.complete = null;
  return reply;
}

function foreignOrigin(call: Call): Reply {
  return rejected(call, 403, 'the Origin is not allowed: list it in "allow_origins" of security/cors');
}

/** Handles GET, which opens a stream, and DELETE, which ends the session. Requires sessions. */
export function serveSession(method: 'GET' | 'DELETE', entry: Entry): Step<ClientRequest> {
  const { declared, allowsOrigin } = entry;
  const server = { ...declared.server, cacheScope: entry.cacheScope };
  const ofAll = declared.sessions!;
  const older = method === 'GET' ? olderTransport(declared, server) : null;
  const serve = method === 'GET' ? listen : end;
  return async (request, call) => {
    if (!allowsOrigin(request)) return foreignOrigin(call);
    const { headers } = request;
    if (method === 'GET' && replyForm(acceptOf(headers), 'events') !== 'events')
      return rejected(call, 406, 'the client must accept text/event-stream');
    if (older && !headers.has('mcp-session-id')) return listenOlder(older, request, call);
    const sessions = ofAll.of(clientDigest(request, call));
    const refusal = await refuseSession({ ...server, sessions }, { header: (name) => headers.get(name) });
    if (refusal) return written(refusal, 'json', call);
    return serve(sessions, headers.get('mcp-session-id')!);
  };
}

async function listen(sessions: OwnSessions, session: string): Promise<Reply> {
  return streamed(await sessions.listen(session));
}

function streamed(body: Reply['body']): Reply {
  const reply = Reply.raw(200, new HeaderBag(replyHeaders('events')), body);
  reply.complete = null;
  reply.lasts = true;
  return reply;
}

/** Returns the older transport; null if it is disabled. */
function olderTransport({ sessions, older }: DeclaredServer, server: McpServer<McpContext>): OlderTransport | null {
  return older && sessions
    ? { server, sessions, textOf, streamed, written: (reply, call) => written(reply, 'json', call) }
    : null;
}

async function end(sessions: OwnSessions, session: string): Promise<Reply> {
  await sessions.end(session);
  return refuse(200);
}
