import { CallError } from '#contract';
import { failure, innerModifier, kind, type Modifier, type Place, scope } from './modifier.ts';

export const fifoGroup = kind(
  {
    type: 'object',
    description: 'Runs several modifiers in order.',
    required: ['modifiers'],
    properties: {
      modifiers: { type: 'array', items: innerModifier('A modifier.'), description: 'Modifiers, in order.' },
      aggregateErrors: {
        type: 'boolean',
        description:
          'Runs all modifiers even if some of them fail. The call then fails with the messages of all errors.',
        default: false,
      },
      scope,
    },
  },
  ({ modifiers, aggregateErrors }, place) =>
    inTurn(
      modifiers.map((written, at) => place.inner(written, `/modifiers/${at}`)),
      aggregateErrors,
    ),
);

export const priorityGroup = kind(
  {
    type: 'object',
    description: 'Runs several modifiers by priority, highest first.',
    required: ['modifiers'],
    properties: {
      modifiers: {
        type: 'array',
        description: 'Modifiers with their priorities.',
        items: {
          type: 'object',
          required: ['priority', 'modifier'],
          properties: {
            priority: {
              type: 'integer',
              description: 'Priority: higher values run earlier. Among equal priorities, the last declared runs first.',
            },
            modifier: innerModifier('The modifier.'),
          },
        },
      },
      scope,
    },
  },
  ({ modifiers }, place) => {
    const ranked = modifiers.map(({ priority, modifier }, at) => ({
      priority,
      at,
      done: innerOf(place, modifier, at),
    }));
    ranked.sort((a, b) => b.priority - a.priority || b.at - a.at);
    return inTurn(
      ranked.map(({ done }) => done),
      false,
    );
  },
);

function innerOf(place: Place, written: Parameters<Place['inner']>[0], at: number): Modifier {
  return place.inner(written, `/modifiers/${at}/modifier`);
}

function inTurn(modifiers: readonly Modifier[], goesOn: boolean): Modifier {
  return {
    request: row(
      modifiers.map(({ request }) => request),
      goesOn,
    ),
    response: row(
      modifiers.map(({ response }) => response),
      goesOn,
    ),
  };
}

type Act<A extends readonly unknown[]> = (...side: A) => void;

function row<A extends readonly unknown[]>(all: readonly (Act<A> | null)[], goesOn: boolean): Act<A> | null {
  const acts = all.filter((act) => act !== null);
  if (acts.length === 0) return null;
  if (goesOn) return (...side) => runAll(acts, side);
  return (...side) => {
    for (const act of acts) act(...side);
  };
}

function runAll<A extends readonly unknown[]>(acts: readonly Act<A>[], side: A): void {
  const messages: string[] = [];
  for (const act of acts) {
    try {
      act(...side);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      messages.push(error.message.replace(/^modifier\/martian: /, ''));
    }
  }
  if (messages.length > 0) throw failure(messages.join('\n'));
}
