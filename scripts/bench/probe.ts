/**
 * Loaded before a measured program (`node --import`) where /proc cannot be read: answers the message `usage` with what
 * the process has used. It keeps no process alive.
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
