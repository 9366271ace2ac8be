import type { DataObject } from '../values/data.ts';
import type { RequestId } from './message.ts';
import type { MirroredParameter } from './mirrored-parameters.ts';

/** The caller of a tool. */
export interface McpCaller {
  /** Session ID of the request; null without sessions. */
  readonly session: string | null;
  readonly request: RequestId;
}

/** A tool of a server. `Context` is arbitrary data that accompanies a request. */
export interface McpTool<Context> {
  /** Entry in `tools/list`: `name`, `title`, `description`, `inputSchema`, ... */
  readonly description: DataObject;
  readonly mirrored: readonly MirroredParameter[];
  /**
   * Calls the tool. The result has `content`, `isError`, `structuredContent`; a failure of the tool is a result, too.
   * @throws McpError if these arguments are not valid for the tool.
   */
  call(args: DataObject, context: Context, caller: McpCaller): Promise<DataObject>;
}

/** Sessions of initialized clients. */
export interface McpSessions {
  /** Opens a session. @param version negotiated protocol version. @returns an unguessable session ID. */
  open(version: string): string | Promise<string>;
  /** Returns the version of a session and extends its lifetime; null for an unknown session. */
  version(session: string): string | null | Promise<string | null>;
  end(session: string): void | Promise<void>;
  /** Called when the client has responded to a request of the server. */
  responded(session: string, id: RequestId): void | Promise<void>;
  /** Called when the client no longer waits for the response to a request. */
  cancelled(session: string, request: RequestId): void;
}

/** A server of the Model Context Protocol, independent of the transport. */
export interface McpServer<Context> {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** Usage instructions for clients; empty for none. */
  readonly instructions: string;
  /** Whether responses are the same for all clients. */
  readonly cacheScope: 'public' | 'private';
  /** Tools in listing order. */
  tools(context: Context): Iterable<McpTool<Context>> | Promise<Iterable<McpTool<Context>>>;
  /** Finds a tool by its name. */
  tool(name: string, context: Context): McpTool<Context> | undefined | Promise<McpTool<Context> | undefined>;
  /** Additional revisions with a handshake, other than those of streamable HTTP. Default: none. */
  readonly olderVersions?: readonly string[];
  /** Sessions of the server; null if every request is independent. */
  readonly sessions: McpSessions | null;
  /** Reports an unexpected error; the client sees only that an internal error occurred. */
  failed(error: unknown, context: Context): void;
}

/** A received request, independent of the transport. */
export interface McpRequest {
  readonly text: string;
  /** Returns a header. @param name in any case. */
  header(name: string): string | undefined;
}

/** A response to send. */
export interface McpReply {
  /** HTTP status. */
  readonly status: number;
  /** The message of the body; null for an empty body. */
  readonly message: DataObject | null;
  /** A newly opened session. */
  readonly session?: string;
}
