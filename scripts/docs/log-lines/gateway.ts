import { type LogAreas, none } from './log-line.ts';

/** Log lines of the gateway itself: start, changes, workers. */
export const gatewayLines: LogAreas = {
  'Start and listening': [
    { level: 'INFO', text: 'Listening on port: …', cause: 'The gateway accepts requests.', remedy: none },
    { level: 'INFO', text: 'the admin API is available at …', cause: 'The admin port is open.', remedy: none },
    {
      level: 'INFO',
      text: 'the token of the admin API is in …',
      cause: 'No token is configured: the gateway created one.',
      remedy: 'Use the token in the file, or configure tokens.',
    },
    {
      level: 'INFO',
      text: '… logging at … to standard output (configure … to change this)',
      cause: 'The configuration does not configure the log.',
      remedy: 'Add `telemetry/logging` for another level or destination.',
    },
    {
      level: 'INFO',
      text: 'version … of … was read',
      cause: 'The store of the configuration has a new revision, which is checked and applied next.',
      remedy: none,
    },
    {
      level: 'WARNING',
      text: '… cannot be read: …; the configuration does not change',
      cause: 'The store of the configuration does not respond, or rejects the credentials.',
      remedy: 'Read the reason. The gateway serves its last configuration, and reads again by itself.',
    },
    {
      level: 'WARNING',
      text: '… has an earlier revision: …',
      cause: 'The store was restored from a backup, or reset.',
      remedy: 'Write the current configuration to the store again. To accept the earlier one, follow the message.',
    },
    {
      level: 'WARNING',
      text: 'the admin API cannot listen on …; continuing without the admin API',
      cause: 'Another process uses the default address of the admin API.',
      remedy: 'Set `listen` in `admin/api`, or stop the other process.',
    },
    {
      level: 'WARNING',
      text: 'replacing …: it must be a non-empty file with mode 0600 that this user owns',
      cause: 'The stored admin token was empty or readable by other users.',
      remedy: 'Distribute the new token to the users of the admin API.',
    },
    {
      level: 'ERROR',
      text: 'cannot store the admin token: set --state-dir or GATEWAY_ADMIN_TOKEN: …',
      cause: 'The state directory is not writable.',
      remedy: 'Follow the message; until then, every start has another token.',
    },
    {
      level: 'ERROR',
      text: 'no token is valid: …',
      cause: 'The file with admin tokens is missing or not valid: every request is rejected.',
      remedy: 'Correct the file. It is read again when it changes.',
    },
    {
      level: 'WARNING',
      text: 'too many wrong tokens from …; further attempts are rejected for one minute',
      cause: 'A client of the admin API uses a wrong token.',
      remedy: 'Find the client by its address. If it is unknown, restrict `allowed_ips`.',
    },
  ],
  'Changes of the configuration': [
    {
      level: 'INFO',
      text: 'now serving revision … (…), replacing …',
      cause: 'A change was accepted. The line counts endpoints and the time of each step.',
      remedy: none,
    },
    {
      level: 'ERROR',
      text: 'configuration refused; revision … stays active: …',
      cause: 'The new configuration has errors. The previous one keeps serving.',
      remedy: 'Correct the errors, which have [codes](errors.md), and save again.',
    },
    {
      level: 'ERROR',
      text: 'rolling back revision …: …',
      cause: 'A guarded change increased the error rate or the latency.',
      remedy: 'Compare the revisions with `sluice diff` before you apply the change again.',
    },
    {
      level: 'CRITICAL',
      text: 'cannot roll back revision …: …',
      cause: 'A guarded change performed worse than the previous revision, and the rollback failed.',
      remedy: 'Apply a good configuration: `sluice rollback`, or save the file.',
    },
    {
      level: 'WARNING',
      text: 'too little traffic for the change guard to evaluate revision …: …',
      cause: 'Fewer requests than the guard needs arrived during the guard period.',
      remedy: 'Monitor the change yourself, or set a longer guard period.',
    },
    {
      level: 'WARNING',
      text: 'revision …: … aborted, replaced for longer than drain_timeout: …',
      cause: 'Requests of a replaced configuration did not end in time.',
      remedy: 'Raise `drain_timeout` if such long requests are intended.',
    },
    {
      level: 'WARNING',
      text: 'shadow run of attempt … failed: …; …',
      cause: 'The process of the candidate ended or did not respond, for example because it needed more than 512 MiB.',
      remedy: 'Start the run again with a smaller sample; clients are not affected.',
    },
    {
      level: 'INFO',
      text: 'shadow run of attempt … has ended: …; … of … compared responses differ',
      cause: 'The time of a shadow run is over, or it was ended early.',
      remedy: 'Read the differences with `sluice shadow` before you activate the configuration.',
    },
    {
      level: 'WARNING',
      text: 'revisions are kept in memory only: …',
      cause: 'The state directory is not writable: the history is lost at a restart.',
      remedy: 'Set `--state-dir` to a writable directory.',
    },
    {
      level: 'WARNING',
      text: '…: polling the watched files every … ms',
      cause: 'The system cannot notify about file changes.',
      remedy: 'Raise `fs.inotify.max_user_watches`, or accept the delay.',
    },
    {
      level: 'WARNING',
      text: '… cannot be read (…); it is still watched',
      cause: 'A watched file was deleted or is not readable.',
      remedy: 'Restore the file or its permissions.',
    },
  ],
  'Workers and resources': [
    {
      level: 'WARNING',
      text: 'worker … (pid …) exited: …; restarting in … ms',
      cause: 'A worker ended: a crash, a signal, or the memory limit of the system.',
      remedy: 'Read the reason; look for the OOM killer in `dmesg`.',
    },
    {
      level: 'WARNING',
      text: 'worker … (pid …) had an internal error; replaced by pid …',
      cause: 'An internal error occurred in a worker. The old process completed its requests.',
      remedy: 'Report the line `internal error in …` that precedes it.',
    },
    {
      level: 'ERROR',
      text: 'worker … failed to start: …',
      cause: 'A worker could not load the configuration.',
      remedy: 'Read the reason; it is started again.',
    },
    {
      level: 'ERROR',
      text: 'internal error in …: …',
      cause: 'An error in the code of the gateway. Only the named object was closed.',
      remedy: 'Report it as a bug, with the stack.',
    },
    {
      level: 'WARNING',
      text: '… of … file descriptors are in use: …',
      cause: 'Nearly all file descriptors of the process are used.',
      remedy: 'Raise `ulimit -n` (`LimitNOFILE` of systemd), or lower `max_connections`.',
    },
    {
      level: 'ERROR',
      text: 'the process has run out of file descriptors (EMFILE), all … are in use: …; …',
      cause: 'Connections and files cannot be opened.',
      remedy: 'Raise `ulimit -n` (`LimitNOFILE` of systemd), or lower `max_connections`.',
    },
    {
      level: 'ERROR',
      text: 'the system has run out of file descriptors (ENFILE): …; raise fs.file-max with sysctl',
      cause: 'All processes of the machine together use too many files.',
      remedy: 'Raise `fs.file-max`.',
    },
    {
      level: 'WARNING',
      text: 'max_connections reached: closing new connections, … are open',
      cause: 'Clients hold more connections than `max_connections`.',
      remedy: 'Raise the limit, add workers, or lower `idle_timeout`.',
    },
    {
      level: 'WARNING',
      text: '… blocked the event loop for … ms…',
      cause: 'The code of a plugin computed for too long: no other request was served.',
      remedy: 'Make the work asynchronous or move it to a thread.',
    },
    {
      level: 'ERROR',
      text: '… is suspended after … consecutive faults; last fault: …',
      cause: 'A plugin has failed repeatedly.',
      remedy: 'Correct the plugin; a reload attaches it again.',
    },
  ],
};
