/**
 * CPU time of a piece of work in this thread, in milliseconds: the minimum of three runs. Time spent waiting for a CPU is not counted.
 */
export function cost(work: () => void): number {
  const runs = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    work();
    return process.threadCpuUsage(before).user / 1000;
  });
  return Math.min(...runs);
}
