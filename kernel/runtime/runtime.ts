import { createHash } from 'node:crypto';
import type { ServiceConfig } from '#contract';
import type { Compiled } from '../pipeline/compile.ts';
import type { Scope } from './scope.ts';
import type { ServerTls } from './tls.ts';

/** One configuration, live: nothing about it changes but the count of calls in flight. */
export class Runtime {
  /** Grows by one with every configuration of this process. */
  readonly id: number;
  readonly config: ServiceConfig;
  readonly compiled: Compiled;
  /** TLS of the port; null for plain HTTP. */
  readonly tls: ServerTls | null;
  readonly #scope: Scope;
  #hash: string | null = null;
  #calls = 0;
  #onIdle: (() => void) | null = null;

  constructor(id: number, config: ServiceConfig, compiled: Compiled, tls: ServerTls | null, scope: Scope) {
    this.id = id;
    this.config = config;
    this.compiled = compiled;
    this.tls = tls;
    this.#scope = scope;
  }

  /** Fingerprint of the configuration's content, whatever the layout of its file; made when first asked for. */
  get hash(): string {
    this.#hash ??= createHash('sha256')
      .update(JSON.stringify([this.config, this.tls?.fingerprint ?? null]))
      .digest('hex');
    return this.#hash;
  }

  /** Calls in flight. */
  get calls(): number {
    return this.#calls;
  }

  enter(): void {
    this.#calls++;
  }

  leave(): void {
    this.#calls--;
    if (this.#calls === 0) this.#onIdle?.();
  }

  /** Waits for the last call to leave, then gives back what the configuration acquired. */
  async retire(onError: (error: unknown) => void): Promise<void> {
    if (this.#calls > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.#scope.dispose(onError);
  }
}
