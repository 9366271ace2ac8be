import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Child } from './children.ts';
import type { Usage } from './probe.ts';

/** Ticks a second in /proc/<pid>/stat: a constant of the Linux interface on every architecture Node runs on. */
const TICKS_PER_SECOND = 100;
const PATIENCE_MS = 5000;
const hasProc = existsSync('/proc/self/stat');

/** What must be added to the start of a Node program for `usageOf` to work. */
export const probeOptions = {
  nodeFlags: hasProc ? [] : ['--import', join(import.meta.dirname, 'probe.ts')],
  ipc: !hasProc,
} as const;

/** CPU time of all threads since the start of the process, and its resident memory now. */
export async function usageOf(child: Child): Promise<Usage> {
  if (!hasProc) return askUsage(child);
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return {
    cpuMicros: ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1e6,
    residentBytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024,
  };
}

/** The same to the microsecond, of a program that has loaded probe.ts: for short times. */
export function askUsage(child: Child): Promise<Usage> {
  return child.message<Usage>(PATIENCE_MS, 'usage');
}
