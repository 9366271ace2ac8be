/**
 * What a piece of work costs this thread, in milliseconds of a processor: the least of three runs. Waiting for a
 * processor that others use is not counted.
 */
export function cost(work: () => void): number {
  const runs = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    work();
    return process.threadCpuUsage(before).user / 1000;
  });
  return Math.min(...runs);
}
