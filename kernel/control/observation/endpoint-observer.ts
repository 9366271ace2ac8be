import {
  type Call,
  type ClientRequest,
  type Masks,
  type Outcome,
  type Reply,
  requestIdSlot,
  type Step,
} from '#contract';
import { timesSlot } from '../../pipeline/steps/timing.ts';
import type { Observable, RequestObserver } from '../../pipeline/traffic/observer.ts';
import type { ObservedRequest } from './observed-request.ts';
import { Sample } from './sample.ts';

/** Time between two sampled requests, in milliseconds: at most 20 are sampled in a second. */
const SAMPLE_EVERY_MS = 50;

/** Maximum number of sampled requests in progress. */
const MAX_OPEN = 100;

/** Maximum number of finished samples that wait to be taken. */
const MAX_SAMPLES = 40;

/** Number of the slowest requests among those that were not sampled. */
const MAX_SLOW = 5;

/** Maximum number of characters of a request target. */
const MAX_TARGET = 1024;

/** A finished request, before it is printed. */
interface Finished extends Omit<ObservedRequest, 'sample' | 'target'> {
  readonly target: string;
  readonly sample: Sample | null;
}

/** Observes the requests of one endpoint in this process: samples some of them, and finds the slowest of the others. */
export class EndpointObserver implements RequestObserver {
  /** Timed pipes of prepared endpoints; null for one that cannot be timed. */
  readonly #timed = new WeakMap<Observable, Step<ClientRequest> | null>();
  #samples: Finished[] = [];
  /** Slowest first. */
  #slow: Finished[] = [];
  #last = 0;
  #finished = 0;
  #open = 0;
  #sampleFrom = Number.NEGATIVE_INFINITY;
  readonly #now: () => number;

  /** @param now monotonic clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Composes the timed pipe of an endpoint, whose requests can be sampled from now on. Not called while a request is
   * processed: what components open while they are composed does not belong to a request.
   */
  prepare(endpoint: Observable): void {
    if (this.#timed.has(endpoint)) return;
    let timed: Step<ClientRequest> | null = null;
    try {
      timed = endpoint.timed();
    } catch {
      // A component does not allow its wrap to be composed again: its endpoint is sampled without times.
    }
    this.#timed.set(endpoint, timed);
  }

  run(endpoint: Observable, request: ClientRequest, call: Call): Reply | Promise<Reply> {
    const startedAt = Date.now();
    const beganMs = this.#now();
    const { method, path, search } = request;
    const number = ++this.#last;
    const requestId = call.get(requestIdSlot) ?? null;
    const timed = this.#timed.get(endpoint);
    const sample = timed !== undefined && this.#isDue(beganMs) ? new Sample(endpoint, request, timed !== null) : null;
    if (sample) this.#open++;
    call.onEnd(({ status, completed }: Outcome) => {
      const durationMs = this.#now() - beganMs;
      const target = search === '' ? path : `${path}?${search}`;
      this.#end({ number, startedAt, method, target, requestId, status, completed, durationMs, sample });
    });
    return sample ? this.#runSampled(sample, timed ?? endpoint.handle, request, call) : endpoint.handle(request, call);
  }

  #isDue(now: number): boolean {
    if (now < this.#sampleFrom || this.#open >= MAX_OPEN || this.#samples.length >= MAX_SAMPLES) return false;
    this.#sampleFrom = now + SAMPLE_EVERY_MS;
    return true;
  }

  #runSampled(sample: Sample, pipe: Step<ClientRequest>, request: ClientRequest, call: Call): Reply | Promise<Reply> {
    call.set(timesSlot, sample.times);
    const beganMs = this.#now();
    const reply = pipe(request, call);
    const note = (settled: Reply): Reply => sample.replied(settled, this.#now() - beganMs);
    return reply instanceof Promise ? reply.then(note) : note(reply);
  }

  #end(finished: Finished): void {
    this.#finished++;
    if (finished.sample) {
      this.#open--;
      this.#samples.push(finished);
      if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
      return;
    }
    const slow = this.#slow;
    if (slow.length === MAX_SLOW && finished.durationMs <= slow.at(-1)!.durationMs) return;
    slow.splice(slow.findLastIndex(({ durationMs }) => durationMs >= finished.durationMs) + 1, 0, finished);
    if (slow.length > MAX_SLOW) slow.pop();
  }

  /** Returns the requests that have finished since the previous call, and their number. */
  take(masks: Masks): { readonly finished: number; readonly requests: readonly ObservedRequest[] } {
    const requests = [...this.#samples, ...this.#slow].map((request) => print(request, masks));
    const finished = this.#finished;
    this.#samples = [];
    this.#slow = [];
    this.#finished = 0;
    return { finished, requests };
  }
}

function print({ target, sample, durationMs, ...request }: Finished, masks: Masks): ObservedRequest {
  const masked = masks.target(target);
  return {
    ...request,
    durationMs: Math.round(durationMs * 1000) / 1000,
    target: masked.length > MAX_TARGET ? `${masked.slice(0, MAX_TARGET)}…` : masked,
    sample: sample ? sample.print(masks, request.completed) : null,
  };
}
