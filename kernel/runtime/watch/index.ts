export { looksUnfinished } from './looks-unfinished.ts';
export { systemTimers, type Timers } from './timers.ts';
export { type FileRead, type Watcher, type WatchOptions, type WatchStatus, watchFiles } from './watch-files.ts';
export { defaultWatchTimes, type WatchTimes } from './watch-times.ts';
