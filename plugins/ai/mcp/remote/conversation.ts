import {
  type Call,
  CallError,
  type DataObject,
  discard,
  getKey,
  HeaderBag,
  handshakeVersions,
  isObject,
  mcpErrors,
  metaKeys,
  type PipeRequest,
  printJson,
  type Reply,
  RequestBody,
  type Step,
  statelessVersions,
} from '#contract';
import { during } from '../../../shared/calls/during.ts';
import { requestTo } from '../../../shared/calls/request-to.ts';
import { isEventStream, RemoteError, readAnswer, readNotifications } from './read-answer.ts';

/** Access to an upstream server on behalf of callers with the same forwarded headers. */
export interface Line {
  readonly url: URL;
  readonly send: Step<PipeRequest>;
  /** Headers of every request, as a flat list. */
  readonly headers: readonly string[];
  /** Version of the gateway. */
  readonly version: string;
  /** Runs work that continues after a client's call has ended, for a limited time. */
  background(work: (call: Call) => Promise<unknown>): void;
}

/** Result of the negotiation with a server. */
interface Agreement {
  readonly version: string;
  /** Whether every request describes its client completely. */
  readonly stateless: boolean;
  readonly session: string | null;
  /** Whether the server announces changes of its tools in a stream of their own. */
  announces: boolean;
}

/** Errors of servers that support only revisions without a handshake. */
const withoutHandshake: ReadonlySet<number> = new Set([
  mcpErrors.methodNotFound,
  mcpErrors.invalidParams,
  mcpErrors.headerMismatch,
  mcpErrors.unsupportedVersion,
]);

/** Client of an upstream server: negotiates the protocol version, and begins a new session when the server has ended the previous one. */
export class Conversation {
  readonly #changed: () => void;
  #agreement: Agreement | null = null;
  /** The negotiation in progress, which concurrent calls share. */
  #beginning: { readonly by: Call; readonly result: Promise<Agreement> } | null = null;
  #lastId = 0;
  #isListening = false;
  /** Number of requests in progress. */
  #pending = 0;

  /** @param changed called when the server has announced a change of its tools. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /**
   * Sends a request.
   * @param line access of the configuration that the request belongs to.
   * @param headers headers that mirror arguments, as a flat list.
   * @returns its result. @throws RemoteError, CallError, or the call's abort reason.
   */
  async request(
    line: Line,
    method: string,
    params: DataObject,
    call: Call,
    headers: readonly string[] = [],
  ): Promise<DataObject> {
    this.#pending++;
    try {
      const known = this.#agreement;
      const agreement = known ?? (await this.#begin(line, call));
      const result = await this.#exchange(line, agreement, method, params, call, headers);
      if (result !== null) return result;
      if (this.#agreement === agreement) this.#agreement = null;
      const again = known && (await this.#exchange(line, await this.#begin(line, call), method, params, call, headers));
      if (again) return again;
      throw new CallError('MCP_UPSTREAM', 'the server has ended the session');
    } finally {
      this.#pending--;
    }
  }

  /** Ends the session, so that the server does not keep it until its own timeout. A session that is in use is kept. */
  async end({ url, send, headers }: Line, call: Call): Promise<void> {
    const agreement = this.#agreement;
    if (this.#pending > 0 || typeof agreement?.session !== 'string') return;
    this.#agreement = null;
    const reply = await send(
      requestTo(url, 'DELETE', new HeaderBag([...headers, ...headersOf(agreement)]), null),
      call,
    );
    // A server that does not let clients end sessions returns 405.
    discard(reply.body);
  }

  /**
   * Receives announcements of the server until their stream ends. Returns at once if the server has none, or if a stream
   * is already open. @throws CallError, or the call's abort reason.
   */
  async listen({ url, send, headers }: Line, call: Call): Promise<void> {
    const agreement = this.#agreement;
    if (!agreement || !this.canListen) return;
    this.#isListening = true;
    try {
      const all = ['Accept', 'text/event-stream', ...headers, ...headersOf(agreement)];
      const reply = await send(requestTo(url, 'GET', new HeaderBag(all), null), call);
      if (reply.errors.length > 0) throw reply.errors[0]!;
      if (isEventStream(reply)) return await readNotifications(reply, this.#notified);
      discard(reply.body);
      // A server that responds with 405 has no stream, and is not asked for one again.
      agreement.announces = false;
    } finally {
      this.#isListening = false;
    }
  }

  /** Whether the server announces changes, and no stream is open. */
  get canListen(): boolean {
    return this.#agreement?.announces === true && !this.#isListening;
  }

  readonly #notified = (method: string): void => {
    if (method === 'notifications/tools/list_changed') this.#changed();
  };

  /** Negotiates once for concurrent calls: each negotiation begins a session that the server keeps. */
  async #begin(line: Line, call: Call): Promise<Agreement> {
    while (this.#beginning) {
      const { by, result } = this.#beginning;
      try {
        return await during(call, result);
      } catch (error) {
        // The negotiation is not canceled with the call that began it, because other calls may wait for its result.
        if (call.reason || !by.reason) throw error;
      }
    }
    const beginning = { by: call, result: this.#negotiate(line, call) };
    this.#beginning = beginning;
    try {
      this.#agreement = await beginning.result;
      return this.#agreement;
    } finally {
      this.#beginning = null;
    }
  }

  async #negotiate(line: Line, call: Call): Promise<Agreement> {
    const newest = handshakeVersions.at(-1)!;
    const clientInfo = { name: 'sluice', version: line.version };
    try {
      const id = ++this.#lastId;
      const params = { protocolVersion: newest, capabilities: {}, clientInfo };
      const reply = await this.#post(line, { jsonrpc: '2.0', id, method: 'initialize', params }, [], call);
      const session = reply.headers.get('mcp-session-id') ?? null;
      const result = await this.#read(reply, id);
      const version = getKey(result, 'protocolVersion');
      if (typeof version !== 'string' || !handshakeVersions.includes(version)) {
        throw new CallError('MCP_UPSTREAM', 'the server supports no protocol version that the gateway supports');
      }
      const agreement = { version, stateless: false, session, announces: announcesChanges(result) };
      await this.#notify(line, agreement, 'notifications/initialized', {}, call);
      return agreement;
    } catch (error) {
      if (!(error instanceof RemoteError) || !withoutHandshake.has(error.code)) throw error;
      return { version: statelessVersions.at(-1)!, stateless: true, session: null, announces: false };
    }
  }

  /** @returns null if the server does not know the session. */
  async #exchange(
    line: Line,
    agreement: Agreement,
    method: string,
    params: DataObject,
    call: Call,
    mirrored: readonly string[],
  ): Promise<DataObject | null> {
    const id = ++this.#lastId;
    const { version, stateless, session } = agreement;
    const own = { [metaKeys.version]: version, [metaKeys.capabilities]: {} };
    const message = { jsonrpc: '2.0', id, method, params: stateless ? { ...params, _meta: own } : params };
    const name = getKey(params, 'name');
    const headers = [
      ...headersOf(agreement),
      ...(stateless ? ['Mcp-Method', method, ...mirrored] : []),
      ...(stateless && typeof name === 'string' ? ['Mcp-Name', name] : []),
    ];
    // A server with a handshake is notified of a cancellation, because it does not treat a lost connection as one.
    const cancellation = stateless
      ? null
      : call.onCancel(() => {
          line.background((own) => this.#notify(line, agreement, 'notifications/cancelled', { requestId: id }, own));
        });
    try {
      const reply = await this.#post(line, message, headers, call);
      if (reply.status === 404 && session !== null) {
        discard(reply.body);
        return null;
      }
      return await this.#read(reply, id);
    } finally {
      cancellation?.off();
    }
  }

  #read(reply: Reply, id: number): Promise<DataObject> {
    return readAnswer(reply, id, this.#notified);
  }

  async #notify(line: Line, agreement: Agreement, method: string, params: DataObject, call: Call): Promise<void> {
    const { body } = await this.#post(line, { jsonrpc: '2.0', method, params }, headersOf(agreement), call);
    discard(body);
  }

  async #post(
    { url, send, headers: always }: Line,
    message: DataObject,
    headers: readonly string[],
    call: Call,
  ): Promise<Reply> {
    const all = [
      ...['Content-Type', 'application/json', 'Accept', 'application/json, text/event-stream'],
      ...always,
      ...headers,
    ];
    const reply = await send(requestTo(url, 'POST', new HeaderBag(all), RequestBody.of(printJson(message))), call);
    if (reply.errors.length > 0) throw reply.errors[0]!;
    return reply;
  }
}

/** Whether the capabilities in the result of `initialize` contain notifications of changed tools. */
function announcesChanges(result: DataObject): boolean {
  const capabilities = getKey(result, 'capabilities');
  const tools = isObject(capabilities) ? getKey(capabilities, 'tools') : undefined;
  return isObject(tools) && getKey(tools, 'listChanged') === true;
}

function headersOf({ version, session }: Agreement): string[] {
  return ['MCP-Protocol-Version', version, ...(session === null ? [] : ['Mcp-Session-Id', session])];
}
