import type { Bound } from './bound.ts';

/** Copies of requests for a shadow run. */
export const shadowBounds: readonly Bound[] = [
  {
    holds: 'Copies of requests in a serving process (shadow run)',
    from: 'kernel/server/exchange/sampler.ts',
    limit: '{MAX_HELD} requests',
    beyond: 'Further requests are not copied, and counted in the result of the run; clients are not affected.',
    tests: ['samples of requests are limited to 64 whose receiver has not finished'],
  },
  {
    holds: 'Body of a response in a copy (shadow run)',
    from: 'kernel/server/exchange/sampler.ts',
    limit: '{MAX_BODY_BYTES}',
    beyond: 'The body is not compared; the client receives it unchanged.',
    tests: ['samples of requests omit bodies above 256 KiB'],
  },
  {
    holds: 'Copies of requests on their way to the candidate (shadow run)',
    from: 'kernel/cases/shadow/shadow-run.ts',
    limit: '{MAX_HELD} requests of all processes together',
    beyond: 'Further copies are dropped, and counted in the result of the run.',
    tests: ['the shadow runs of a gateway hold at most 128 samples, and skip further ones'],
  },
  {
    holds: 'Response of a candidate (shadow run)',
    from: 'kernel/cases/shadow/candidate.ts',
    limit: '{MAX_BODY_BYTES}',
    beyond: 'The response is not read to its end, and its body is not compared.',
    tests: ['the candidate of a shadow run does not read responses above 1 MiB to their end'],
  },
  {
    holds: 'Differences in the result of a shadow run',
    from: 'kernel/cases/shadow/candidate.ts',
    limit: '{MAX_CHANGES} differences',
    beyond: 'Further differences are counted.',
    tests: ['the candidate of a shadow run lists the first 200 differences, and counts the others'],
  },
  {
    holds: 'Refused requests in the result of a shadow run',
    from: 'kernel/cases/shadow/shadow-session.ts',
    limit: '{MAX_REFUSALS} servers or components',
    beyond: 'Further ones are not listed.',
    tests: ['the candidate of a shadow run lists the first 50 refused requests'],
  },
];
