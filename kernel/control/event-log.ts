import type { Phase } from '../runtime/phases.ts';
import type { Attempt, Trigger } from './attempts.ts';
import type { Applied } from './change.ts';
import type { GuardState } from './guard.ts';

/** Everything the gateway tells while it runs: plain data, never changed once told. */
export interface EventData {
  'reload.started': { readonly attempt: number; readonly trigger: Trigger };
  'reload.phase': { readonly attempt: number; readonly phase: Phase };
  /** Only with its issues, and not with more than are shown to one client. */
  'reload.succeeded': Applied;
  'reload.failed': Attempt;
  'worker.up': { readonly worker: number; readonly pid: number | null };
  'worker.down': { readonly worker: number; readonly pid: number | null; readonly reason: string };
  /** Requests in flight. */
  'drain.started': { readonly requests: number };
  'drain.finished': { readonly result: 'idle' | 'resumed' };
  /** As the component tells it; with workers also which one. */
  'breaker.changed': object;
  /** A plugin from a file failed too often. */
  'plugin.suspended': { readonly plugin: string; readonly faults: number; readonly message: string };
  'plugin.resumed': { readonly plugin: string };
  'guard.started': GuardState;
  'guard.passed': GuardState;
  'guard.undecided': GuardState;
  'guard.superseded': GuardState;
  'guard.failed': GuardState;
  'watch.error': { readonly message: string };
  /** An error that nothing caught, in code of the release; `place` as of the metric. */
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
  'watch.error': true,
  'internal.error': true,
};

/** Every type of event there is. */
export const eventTypes = Object.keys(known) as EventType[];

/** True when there are events that a pattern of `Subscription.types` asks for. */
export function isEventPattern(pattern: string): boolean {
  return eventTypes.some(wanting([pattern]));
}

/** One kind of event. */
export interface EventOf<Type extends EventType> {
  /** Grows by one with every event of this process, from 1. */
  readonly id: number;
  readonly type: Type;
  readonly data: EventData[Type];
}

export type GatewayEvent = { [Type in EventType]: EventOf<Type> }[EventType];

export interface Subscription {
  /**
   * Tells first what is remembered of the events after this id; without it only what is to come. An id this process has
   * not reached yet is from before a restart: everything remembered is told.
   */
  readonly after?: number;
  /** Event types, `reload.*` for all of a kind, `*` for all; all when left out. */
  readonly types?: readonly string[];
}

export interface EventLog {
  /** @returns the id of the event. */
  emit<Type extends EventType>(type: Type, data: EventData[Type]): number;
  /**
   * Tells a listener every event once, in order, synchronously. One that throws is told nothing more.
   * @returns what ends the subscription.
   */
  subscribe(subscription: Subscription, listener: (event: GatewayEvent) => void): () => void;
}

interface Subscriber {
  readonly listener: (event: GatewayEvent) => void;
  readonly wants: (type: EventType) => boolean;
  /** The last event it was told, or did not want. */
  at: number;
  /** Its listener is running: what comes meanwhile is told when it returns. */
  busy: boolean;
}

/** @param limit how many events are remembered, at least 1. */
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
      remembered.push({ id, type, data } as GatewayEvent);
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
