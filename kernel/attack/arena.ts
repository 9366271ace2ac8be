import type { AttackRequest, AttackResponse, AttackStage, AttackTarget, Catalogue, DataObject } from '#contract';
import { type OpenSandbox, openSandbox, type SandboxOptions } from '../sandbox/open-sandbox.ts';
import { within } from '../sandbox/session.ts';
import { AttackSession } from './attack-session.ts';
import { Wire } from './wire.ts';

/** A gateway in a sandbox that listens on a port of the loopback address, and a client that attacks it. */
export class Arena {
  readonly #sandbox: OpenSandbox;
  readonly #session: AttackSession;
  readonly #wire: Wire;

  private constructor(sandbox: OpenSandbox, session: AttackSession, wire: Wire) {
    this.#sandbox = sandbox;
    this.#session = session;
    this.#wire = wire;
  }

  /** @throws ConfigErrors if the configuration is not valid. */
  static async open(
    catalogue: Catalogue,
    document: DataObject,
    stage: AttackStage,
    options: SandboxOptions,
  ): Promise<Arena> {
    const session = new AttackSession(stage);
    const sandbox = await openSandbox(catalogue, document, session, options);
    try {
      // Code that handles connections runs in the session in which the port was opened.
      const { port } = await within(session, () => sandbox.gateway.listen({ port: 0, host: '127.0.0.1' }));
      return new Arena(sandbox, session, new Wire(port));
    } catch (error) {
      await sandbox.close();
      throw error;
    }
  }

  async send(request: AttackRequest): Promise<AttackResponse> {
    const response = await this.#wire.send(request);
    return { ...response, calls: this.#session.take() };
  }

  async write(...given: Parameters<AttackTarget['write']>): ReturnType<AttackTarget['write']> {
    const exchange = await this.#wire.write(...given);
    return { ...exchange, calls: this.#session.take() };
  }

  respond(respond: Parameters<AttackTarget['respond']>[0] | null): void {
    this.#session.answer = respond;
  }

  /** Moves the clock of the sandbox forward, so that rate limits and circuit breakers recover from an attack. */
  recover(): void {
    this.#sandbox.clock.advance(3_600_000);
    this.#session.answer = null;
    this.#session.take();
  }

  async close(): Promise<void> {
    this.#wire.close();
    await this.#sandbox.close();
  }
}
