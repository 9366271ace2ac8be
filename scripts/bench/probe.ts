/**
 * Preloaded into a measured program (`node --import`) where /proc cannot be read: responds to the message `usage` with
 * the resource usage of the process. Does not keep the process alive.
 */
export interface Usage {
  readonly userMicros: number;
  readonly systemMicros: number;
  readonly residentBytes: number;
}

process.on('message', (message) => {
  if (message !== 'usage') return;
  const { user, system } = process.cpuUsage();
  const usage: Usage = { userMicros: user, systemMicros: system, residentBytes: process.memoryUsage.rss() };
  process.send?.(usage);
});
process.channel?.unref();
