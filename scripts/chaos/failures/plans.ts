import type { Fault, Plan } from './plan.ts';

const chances = [0.05, 0.3, 1];

/** Failures of a system, by the resource that is exhausted or broken. Each is tried with every probability. */
const problems: Readonly<Record<string, readonly Fault[]>> = {
  'no descriptors': [
    { operation: 'open', error: 'EMFILE' },
    { operation: 'connect', error: 'EMFILE' },
  ],
  'no descriptors in the system': [
    { operation: 'open', error: 'ENFILE' },
    { operation: 'connect', error: 'ENFILE' },
  ],
  'a full disk': [
    { operation: 'write', error: 'ENOSPC' },
    { operation: 'sync', error: 'ENOSPC' },
  ],
  'no permission': [
    { operation: 'open', error: 'EACCES' },
    { operation: 'rename', error: 'EACCES' },
  ],
  'a broken disk': [
    { operation: 'open', error: 'EIO' },
    { operation: 'read', error: 'EIO' },
    { operation: 'write', error: 'EIO' },
    { operation: 'sync', error: 'EIO' },
  ],
  'a slow disk': [
    { operation: 'open', delayMs: 50 },
    { operation: 'write', delayMs: 50 },
  ],
  'connections that reset': [
    { operation: 'receive', error: 'ECONNRESET' },
    { operation: 'send', error: 'ECONNRESET' },
  ],
  'broken pipes': [{ operation: 'send', error: 'EPIPE' }],
  'connections that time out': [
    { operation: 'connect', error: 'ETIMEDOUT', delayMs: 200 },
    { operation: 'send', error: 'ETIMEDOUT' },
  ],
  'slow connections': [{ operation: 'send', delayMs: 100 }],
  'no names': [{ operation: 'lookup', error: 'ENOTFOUND' }],
  'slow names': [{ operation: 'lookup', delayMs: 3000 }],
  'wrong names': [{ operation: 'lookup', address: '127.0.0.2' }],
};

const HOUR_MS = 3_600_000;

const ofProcess: readonly (readonly [name: string, plan: Partial<Plan>])[] = [
  ['a clock set back', { clockMs: -HOUR_MS }],
  ['a clock set forward', { clockMs: HOUR_MS }],
  ['an event loop that is held', { hold: { ms: 300, everyMs: 600 } }],
  ['a heap that fills up', { garbage: { mib: 32, everyMs: 300 } }],
];

/** Every plan of a campaign, by name. */
export const plans: readonly (readonly [name: string, plan: Omit<Plan, 'seed'>])[] = [
  ...Object.entries(problems).flatMap(([name, faults]) =>
    chances.map((probability) => {
      const plan = { faults: faults.map((fault) => ({ ...fault, probability })) };
      return [`${name} (${probability * 100} %)`, plan] as const;
    }),
  ),
  ...ofProcess.map(([name, plan]) => [name, { faults: [], ...plan }] as const),
];
