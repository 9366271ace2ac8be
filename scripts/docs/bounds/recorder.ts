import type { Bound } from './bound.ts';

/** Recorded traffic, which clients and backends can fill. */
export const recorderBounds: readonly Bound[] = [
  {
    holds: 'Recorded body (`telemetry/recorder`)',
    limit: 'the setting in bytes',
    setting: 'service: telemetry/recorder: max_body',
    beyond: 'The body is omitted in the recording and marked; the client and the backend receive it unchanged.',
    tests: ['telemetry/recorder omits and marks bodies above max_body, which pass unchanged'],
  },
  {
    holds: 'Backend calls of a recording (`telemetry/recorder`)',
    from: 'plugins/telemetry/recorder/recording.ts',
    limit: '{MAX_CALLS} calls',
    beyond: 'Further calls are counted in the recording, without their content.',
    tests: ['telemetry/recorder records the first 100 backend calls of a request, and counts the others'],
  },
  {
    holds: 'Recordings in memory (`telemetry/recorder`)',
    limit: 'the setting in bytes, and `max_per_endpoint` recordings of an endpoint',
    setting: 'service: telemetry/recorder: max_bytes',
    beyond: 'The oldest recordings are dropped.',
    tests: [
      'recordings in memory drop the oldest of an endpoint above max_per_endpoint',
      'recordings in memory stay within max_bytes, even if a single recording is larger',
    ],
  },
  {
    holds: 'Recordings in a response of `GET /v1/recordings`, and in a replay before a change (`telemetry/recorder`)',
    from: 'plugins/telemetry/recorder/ring.ts',
    limit: '{MAX_FILE_LENGTH} characters',
    beyond: 'Older recordings are omitted.',
    tests: ['recordings in memory are returned in order, the latest first, up to 48 million characters'],
  },
  {
    holds: 'Recordings of a process that are being printed, or sent to the primary (`telemetry/recorder`)',
    from: 'plugins/telemetry/recorder/keeper.ts',
    limit: '{MAX_PENDING} recordings',
    beyond: 'New recordings are dropped; one log line per second.',
    tests: ['recordings of a worker are dropped, with one warning, while 64 others wait to be stored in the primary'],
  },
  {
    holds: 'Recordings that wait to be written to the folder of `telemetry/recorder`',
    from: 'plugins/telemetry/recorder/folder.ts',
    limit: '{MAX_WAITING} recordings',
    beyond: 'New items are dropped; one log line per second.',
    tests: ['a folder of recordings contains at most 64 recordings that wait to be written; further ones are dropped'],
  },
];
