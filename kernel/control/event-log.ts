import type { Phase } from '../runtime/build/phases.ts';
import type { Attempt, Trigger } from './attempts.ts';
import type { Applied } from './change.ts';
import type { GuardState } from './guard.ts';
import type { ReplayChange } from './replay-report.ts';
import type { ShadowReport } from './shadow-report.ts';

/** All events that the gateway emits: plain data, never changed after being emitted. */
export interface EventData {
  'reload.started': { readonly attempt: number; readonly trigger: Trigger };
  'reload.phase': { readonly attempt: number; readonly phase: Phase };
  /** Like the change's result, but with at most as many warnings as one response contains, as `issues`. */
  'reload.succeeded': Applied;
  'reload.failed': Attempt;
  'worker.up': { readonly worker: number; readonly pid: number | null };
  'worker.down': { readonly worker: number; readonly pid: number | null; readonly reason: string };
  /** Requests in flight. */
  'drain.started': { readonly requests: number };
  'drain.finished': { readonly result: 'idle' | 'resumed' };
  /** Data from the component that reports the event. With workers, it also contains the worker's number. */
  'breaker.changed': object;
  /** A plugin from a file was suspended after too many faults. */
  'plugin.suspended': { readonly plugin: string; readonly faults: number; readonly message: string };
  'plugin.resumed': { readonly plugin: string };
  'guard.started': GuardState;
  'guard.passed': GuardState;
  'guard.undecided': GuardState;
  'guard.superseded': GuardState;
  'guard.failed': GuardState;
  'shadow.started': ShadowReport;
  /** A difference that the shadow run of an attempt has found for the first time. */
  'shadow.difference': ReplayChange & { readonly attempt: number };
  'shadow.finished': ShadowReport;
  'watch.error': { readonly message: string };
  /** An uncaught error in the gateway's own code; `place` is the label of the metric. */
  'internal.error': { readonly place: string; readonly message: string };
}

export type EventType = keyof EventData;

const known: Readonly<Record<EventType, true>> = {
  'reload.started': true,
  'reload.phase': true,
  'reload.succeeded': true,
  'reload.failed': true,
  'worker.up': true,
  'worker.down': true,
  'drain.started': true,
  'drain.finished': true,
  'breaker.changed': true,
  'plugin.suspended': true,
  'plugin.resumed': true,
  'guard.started': true,
  'guard.passed': true,
  'guard.undecided': true,
  'guard.superseded': true,
  'guard.failed': true,
  'shadow.started': true,
  'shadow.difference': true,
  'shadow.finished': true,
  'watch.error': true,
  'internal.error': true,
};

/** All event types. */
export const eventTypes = Object.keys(known) as EventType[];

/** True when at least one event type matches a pattern of `Subscription.types`. */
export function isEventPattern(pattern: string): boolean {
  return eventTypes.some(wanting([pattern]));
}

/** Event of one type. */
export interface EventOf<Type extends EventType> {
  /** Increases by one with every event of this process, starting at 1. */
  readonly id: number;
  readonly type: Type;
  /** Time of the event, in milliseconds since 1970. */
  readonly at: number;
  readonly data: EventData[Type];
}

export type GatewayEvent = { [Type in EventType]: EventOf<Type> }[EventType];

export interface Subscription {
  /**
   * Replays the remembered events after this id first; without it, only new events are delivered. An id that this
   * process has not reached yet is from before a restart: all remembered events are replayed.
   */
  readonly after?: number;
  /** Event types, `reload.*` for all of a kind, `*` for all. Default: all. */
  readonly types?: readonly string[];
}

export interface EventLog {
  /** @returns the id of the event. */
  emit<Type extends EventType>(type: Type, data: EventData[Type]): number;
  /**
   * Delivers every event to a listener once, in order, synchronously. A listener that throws receives no further
   * events.
   * @returns a function that ends the subscription.
   */
  subscribe(subscription: Subscription, listener: (event: GatewayEvent) => void): () => void;
}

interface Subscriber {
  readonly listener: (event: GatewayEvent) => void;
  readonly wants: (type: EventType) => boolean;
  /** Id of the last event that was delivered to the listener, or that did not match its types. */
  at: number;
  /** Whether the listener is running; events that arrive during that time are delivered when it returns. */
  busy: boolean;
}

/** @param limit number of events to remember, at least 1. */
export function createEventLog(limit = 1000): EventLog {
  const remembered: GatewayEvent[] = [];
  const subscribers = new Set<Subscriber>();
  let lastId = 0;

  const catchUp = (subscriber: Subscriber): void => {
    if (subscriber.busy) return;
    subscriber.busy = true;
    try {
      while (subscriber.at < lastId && subscribers.has(subscriber)) {
        const oldest = remembered[0]!.id;
        const event = remembered[Math.max(0, subscriber.at + 1 - oldest)]!;
        subscriber.at = event.id;
        if (subscriber.wants(event.type)) subscriber.listener(event);
      }
    } catch {
      subscribers.delete(subscriber);
    }
    subscriber.busy = false;
  };

  return {
    emit(type, data) {
      const id = ++lastId;
      remembered.push({ id, type, at: Date.now(), data } as GatewayEvent);
      if (remembered.length > limit) remembered.shift();
      for (const subscriber of subscribers) catchUp(subscriber);
      return id;
    },
    subscribe({ after = lastId, types }, listener) {
      const at = after > lastId ? 0 : after;
      const subscriber: Subscriber = { listener, wants: wanting(types), at, busy: false };
      subscribers.add(subscriber);
      catchUp(subscriber);
      return () => {
        subscribers.delete(subscriber);
      };
    },
  };
}

function wanting(patterns: readonly string[] = ['*']): (type: string) => boolean {
  const exact = new Set(patterns);
  const starts = patterns.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1));
  return (type) => exact.has(type) || starts.some((start) => type.startsWith(start));
}
