import { setTimeout as delay } from 'node:timers/promises';
import { type Call, connectionOwner, type Log, runAs, runOwned, timerMs } from '#contract';
import { during, within } from '../../shared/calls/during.ts';
import { type Link, openLink } from './link.ts';
import type { RedisConnection } from './port.ts';
import { RedisError } from './redis-error.ts';
import type { Script } from './script.ts';
import type { RedisSettings } from './settings.ts';

/** Maximum number of pending responses of one connection; one more command fails immediately. Each takes about 500 bytes. */
const MAX_WAITING = 10_000;

/** Error of a server that requires using another server. */
const elsewhere = /^(?:READONLY|MASTERDOWN)\b/;

/** Maximum time by which a timer can fire early, in milliseconds. */
const TIMER_MS = 1;

/** A connection that was open for less, in milliseconds, is not reopened immediately. */
const SETTLED_MS = 1000;

/** A connection that is reopened whenever it is lost; commands never wait for a reconnection. */
export class Connection implements RedisConnection {
  readonly name: string;
  readonly isOneServer: boolean;
  readonly #settings: RedisSettings;
  readonly #closing = new AbortController();
  #log: Log;
  #link: Link | null = null;
  /** The first attempt to connect, which commands wait for; null once it is over. */
  #opening: Promise<void> | null = null;
  #isConnecting = false;
  #waiting = 0;
  #openedAt = 0;
  /** Time since which responses are pending and none has arrived. */
  #quietSince = 0;
  /** Set while a response of the server is overdue. No commands are sent during that time. */
  #silence: NodeJS.Timeout | null = null;
  /** Reason for the missing connection. */
  #problem = 'not connected yet';

  readonly #onMissing: () => void;

  /** @param onMissing called for each command that fails because no connection was opened. */
  constructor(settings: RedisSettings, log: Log, onMissing: () => void = () => {}) {
    this.name = settings.name;
    this.isOneServer = settings.kind !== 'cluster';
    this.#settings = settings;
    this.#log = log;
    this.#onMissing = onMissing;
  }

  /** Connects, and reconnects after every loss; only commands wait for the first attempt. */
  open(log: Log): void {
    this.#log = log;
    if (this.#isConnecting || this.#link || this.#closing.signal.aborted) return;
    this.#opening = new Promise((resolve) => {
      void this.#connect(() => {
        this.#opening = null;
        resolve();
      });
    });
  }

  run(script: Script, keys: readonly string[], args: readonly (string | Buffer)[], call: Call): Promise<unknown> {
    const link = this.#link;
    if (!link) {
      if (this.#opening) return this.#untilOpen(this.#opening, call).then(() => this.#run(script, keys, args, call));
      this.#onMissing();
      return this.#fail(this.#problem);
    }
    return this.#run(script, keys, args, call);
  }

  /** Resolves when the first attempt is over, when the call ends, or when the call has waited as long as for a response. */
  #untilOpen(opening: Promise<void>, call: Call): Promise<void> {
    return during(call, within(this.#mayWaitMs(call), opening)).catch(() => {});
  }

  #mayWaitMs(call: Call): number {
    return Math.min(this.#settings.commandMs, Math.max(call.remainingMs / 2, 1));
  }

  close(): void {
    this.#closing.abort();
    this.#problem = 'closed';
    this.#drop();
  }

  #run(script: Script, keys: readonly string[], args: readonly (string | Buffer)[], call: Call): Promise<unknown> {
    const link = this.#link;
    if (call.reason) return this.#fail(call.reason.message, false, call.reason);
    if (!link) return this.#fail(this.#problem);
    if (this.#silence) return this.#fail('does not respond');
    if (this.#waiting >= MAX_WAITING) return this.#fail(`has not responded to ${MAX_WAITING} commands`);
    const command = ['EVALSHA', script.sha1, String(keys.length), ...keys, ...args];
    return new Promise((resolve, reject) => {
      const { commandMs } = this.#settings;
      const mayWaitMs = this.#mayWaitMs(call);
      const giveUp = (reason: string, isOutage: boolean, cause?: Error) => {
        settle();
        reject(new RedisError(this.name, reason, cause, isOutage));
      };
      const timer = setTimeout(() => {
        // The server counts as silent only after several consecutive timeouts, because a single call may have a very
        // short timeout.
        const isSilent = performance.now() - this.#quietSince >= commandMs - TIMER_MS;
        if (isSilent) this.#fallSilent(link);
        giveUp(`no response within ${Math.round(mayWaitMs)}ms`, isSilent);
      }, timerMs(mayWaitMs));
      const cancellation = call.onCancel((reason) => giveUp(reason.message, false, reason));
      const settle = () => {
        clearTimeout(timer);
        cancellation.off();
      };
      if (this.#waiting === 0) this.#quietSince = performance.now();
      this.#waiting++;
      this.#send(link, command, script).then(
        (response) => {
          this.#heard(link);
          settle();
          resolve(response);
        },
        (error: Error) => {
          this.#waiting--;
          settle();
          reject(new RedisError(this.name, error.message, error));
        },
      );
    });
  }

  /** Sends the full source to a server that does not know the script. */
  #send(link: Link, command: readonly (string | Buffer)[], { source }: Script): Promise<unknown> {
    const key = String(command[3] ?? '');
    return link.send(key, command).catch((error: Error) => {
      if (isReply(error)) {
        this.#quietSince = performance.now();
        this.#unsilence(link);
      }
      if (elsewhere.test(error.message) && this.#isSettled) this.#lost(link, error);
      if (!error.message.startsWith('NOSCRIPT')) throw error;
      return link.send(key, ['EVAL', source, ...command.slice(2)]);
    });
  }

  get #isSettled(): boolean {
    return performance.now() - this.#openedAt >= SETTLED_MS;
  }

  #heard(link: Link): void {
    this.#waiting--;
    this.#quietSince = performance.now();
    if (this.#silence) this.#unsilence(link);
  }

  /** The pending response serves as the probe: when it arrives, commands are sent again. Until then, for at most `connectMs`, no commands are sent. */
  #fallSilent(link: Link): void {
    if (this.#silence || this.#link !== link) return;
    const { connectMs } = this.#settings;
    this.#log.error(`[Redis] ${this.name} does not respond`);
    const giveUp = () => this.#lost(link, new Error('does not respond'));
    this.#silence = runAs('redis connection', this.name, () => setTimeout(giveUp, timerMs(connectMs))).unref();
  }

  #unsilence(link: Link): void {
    if (!this.#silence || this.#link !== link) return;
    clearTimeout(this.#silence);
    this.#silence = null;
    this.#log.info(`[Redis] ${this.name} responds again`);
  }

  #lost(link: Link, error: Error): void {
    if (this.#link !== link) return;
    this.#problem = error.message || 'connection lost';
    this.#log.error(`[Redis] ${this.name}: ${this.#problem}`);
    this.#drop();
    void this.#connect(() => {}, this.#isSettled ? 0 : 1);
  }

  #drop(): void {
    const link = this.#link;
    this.#link = null;
    if (this.#silence) clearTimeout(this.#silence);
    this.#silence = null;
    link?.close();
  }

  /** @param onFirst called when the first attempt is over. @param attempts number of attempts made before. */
  async #connect(onFirst: () => void, attempts = 0): Promise<void> {
    if (this.#isConnecting) return;
    this.#isConnecting = true;
    const { signal } = this.#closing;
    for (let attempt = attempts; !signal.aborted; attempt++) {
      if (attempt > 0) await this.#pause(attempt);
      try {
        await this.#attempt();
        if (attempt > 0) this.#log.info(`[Redis] ${this.name} is connected`);
        break;
      } catch (error) {
        const { message, code } = error as Error & { code?: string };
        this.#problem = `not connected: ${message || code}`;
        if (attempt === attempts && !signal.aborted) this.#log.error(`[Redis] ${this.name} ${this.#problem}`);
        onFirst();
      }
    }
    this.#isConnecting = false;
    onFirst();
  }

  async #attempt(): Promise<void> {
    let link: Link | null = null;
    let loss: Error | null = null;
    const lost = (error: Error) => {
      loss = error;
      if (link) this.#lost(link, error);
    };
    const owner = connectionOwner('redis connection', this.name, lost);
    const opened = await runOwned(owner, openLink, this.#settings, lost);
    if (this.#closing.signal.aborted || loss) {
      opened.close();
      throw loss ?? new Error('closed');
    }
    link = opened;
    this.#link = opened;
    this.#openedAt = performance.now();
  }

  /** Waits with exponential backoff, and jitter so that gateways do not reconnect at the same moment. */
  #pause(attempt: number): Promise<void> {
    const { least, most } = this.#settings.backoffMs;
    const ms = Math.min(Math.max(least, 1) * 2 ** Math.min(attempt - 1, 20), Math.max(most, 1));
    const { signal } = this.#closing;
    return delay(ms * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => {});
  }

  #fail(reason: string, isOutage = true, cause?: Error): Promise<never> {
    return Promise.reject(new RedisError(this.name, reason, cause, isOutage));
  }
}

/** Whether the error is a response of the server, which is therefore reachable. */
function isReply(error: Error): boolean {
  return /^[A-Z]{2,} ?/.test(error.message);
}
