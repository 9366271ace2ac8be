import type { DataObject } from '../values/data.ts';
import type { RequestId } from './message.ts';
import type { MirroredParameter } from './mirrored-parameters.ts';

/** Who a tool is called by. */
export interface McpCaller {
  /** Null where there are no sessions. */
  readonly session: string | null;
  readonly request: RequestId;
}

/** One tool of a server. `Context` is whatever comes with a request. */
export interface McpTool<Context> {
  /** As `tools/list` shows it: `name`, `title`, `description`, `inputSchema`, ... */
  readonly description: DataObject;
  readonly mirrored: readonly MirroredParameter[];
  /**
   * What it results in: `content`, `isError`, `structuredContent`. A failure of the tool is a result.
   * @throws McpError when it cannot be called so.
   */
  call(args: DataObject, context: Context, caller: McpCaller): Promise<DataObject>;
}

/** Who has introduced itself, and may go on. */
export interface McpSessions {
  /** @param version that both sides have agreed on. @returns its name, which cannot be guessed. */
  open(version: string): string | Promise<string>;
  /** The version of a session, which lives longer for it; null for one that there is not. */
  version(session: string): string | null | Promise<string | null>;
  end(session: string): void | Promise<void>;
  /** The client has answered what it was asked. */
  responded(session: string, id: RequestId): void | Promise<void>;
  /** The client does not wait for the answer to a request any more. */
  cancelled(session: string, request: RequestId): void;
}

/** A server of the Model Context Protocol, without the transport. */
export interface McpServer<Context> {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** Empty for none. */
  readonly instructions: string;
  /** Whether everybody is told the same. */
  readonly cacheScope: 'public' | 'private';
  /** By name, in the order in which they are listed. */
  tools(context: Context): ReadonlyMap<string, McpTool<Context>>;
  /** Revisions with a handshake beside those of streamable HTTP; default none. */
  readonly olderVersions?: readonly string[];
  /** Null where every request stands alone. */
  readonly sessions: McpSessions | null;
  /** Told of what nobody expected; the client is told no more than that. */
  failed(error: unknown, context: Context): void;
}

/** What came, without the transport. */
export interface McpRequest {
  readonly text: string;
  /** @param name in any case. */
  header(name: string): string | undefined;
}

/** What is answered. */
export interface McpReply {
  /** Of HTTP. */
  readonly status: number;
  /** Null for an empty body. */
  readonly message: DataObject | null;
  /** One that was opened. */
  readonly session?: string;
}
