import type { SandboxRequest, SandboxResponse } from '#contract';
import type { Session } from '../../sandbox/session.ts';
import type { Mock } from '../mock.ts';
import { MockedServers } from '../mock.ts';
import type { Origins } from './origins.ts';

/**
 * The mocked backends that serve one request to one gateway. Requests to any host of a backend are answered as requests
 * to its first host.
 */
export class CanonicalSession implements Session {
  readonly servers: MockedServers;
  readonly #origins: Origins;

  constructor(mocks: readonly Mock[], origins: Origins) {
    this.servers = new MockedServers(mocks, false);
    this.#origins = origins;
  }

  respond(request: SandboxRequest): SandboxResponse | null {
    const [, origin = '', rest = ''] = /^([a-z][a-z\d+.-]*:\/\/[^/?]*)(.*)$/is.exec(request.url) ?? [];
    return this.servers.respond({ ...request, url: this.#origins.mockedAt(origin) + rest });
  }

  refused(connection: Parameters<Session['refused']>[0]): void {
    this.servers.refused(connection);
  }

  logged(line: string, level: string): void {
    this.servers.logged(line, level);
  }

  /** Requests to backends so far, except for requests for documents. @param documents URLs of these documents. */
  requests(documents: ReadonlySet<string>): SandboxRequest[] {
    return [...this.servers.calls].flatMap(([name, requests]) => (documents.has(name) ? [] : requests));
  }
}
