import type { LoadReport } from './load.ts';

/**
 * Parses the output of `wrk --latency`. wrk's byte counts include response heads, so `bodyBytes` is somewhat too high.
 * @throws Error for invalid output.
 */
export function readWrkReport(text: string): LoadReport {
  const total = /(\d+) requests in ([\d.]+)(ms|s|m|h), ([\d.]+)([KMGT]?)B read/.exec(text);
  const p50 = /^\s*50(?:\.0+)?%\s+([\d.]+)(us|ms|s|m)/m.exec(text);
  const p99 = /^\s*99(?:\.0+)?%\s+([\d.]+)(us|ms|s|m)/m.exec(text);
  if (!total || !p50 || !p99) throw new Error(`unexpected output of wrk: ${text}`);
  const bad = Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0);
  const sockets = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text);
  const broken = sockets ? sockets.slice(1).reduce((sum, count) => sum + Number(count), 0) : 0;
  return {
    requests: Number(total[1]),
    bodyBytes: Number(total[4]) * 1024 ** ' KMGT'.indexOf(total[5] || ' '),
    wrong: bad + broken,
    firstWrong: [bad > 0 ? `${bad} responses were not 2xx` : '', broken > 0 ? sockets![0] : '']
      .filter(Boolean)
      .join('; '),
    seconds: millis(total[2], total[3]) / 1000,
    p50Millis: millis(p50[1], p50[2]),
    p99Millis: millis(p99[1], p99[2]),
  };
}

const MILLIS: Record<string, number> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function millis(value: string | undefined, unit: string | undefined): number {
  return Number(value) * MILLIS[unit!]!;
}
