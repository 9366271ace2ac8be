import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Child } from './children.ts';
import type { Usage } from './probe.ts';

/** Clock ticks per second in /proc/<pid>/stat: a constant of the Linux interface on every architecture that Node.js supports. */
const TICKS_PER_SECOND = 100;
const PATIENCE_MS = 5000;
const hasProc = existsSync('/proc/self/stat');

/** Options to add to the start of a Node.js program for `usageOf` to work. */
export const probeOptions = {
  nodeFlags: hasProc ? [] : ['--import', join(import.meta.dirname, 'probe.ts')],
  ipc: !hasProc,
} as const;

/**
 * CPU time since the start of the process, including all its threads and the processes it started, even those that have
 * ended, and the current resident memory of all of them: shared pages count for each.
 */
export async function usageOf(child: Child): Promise<Usage> {
  if (!hasProc) return askUsage(child);
  const usages = familyOf(child.pid).map(readUsage);
  const sum = (key: keyof Usage) => usages.reduce((total, usage) => total + usage[key], 0);
  return { userMicros: sum('userMicros'), systemMicros: sum('systemMicros'), residentBytes: sum('residentBytes') };
}

/** A process and its running descendants. */
function familyOf(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(familyOf)];
}

function readUsage(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const micros = (own: number, ended: number) =>
    ((Number(fields[own]) + Number(fields[ended])) / TICKS_PER_SECOND) * 1e6;
  return {
    userMicros: micros(11, 13),
    systemMicros: micros(12, 14),
    residentBytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024,
  };
}

/** Like `usageOf`, with a resolution of a microsecond, for short periods. The program must have loaded probe.ts. */
export function askUsage(child: Child): Promise<Usage> {
  return child.message<Usage>(PATIENCE_MS, 'usage');
}
