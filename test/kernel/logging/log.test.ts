import { deepEqual, equal, match } from 'node:assert/strict';
import type { LogLevel, LogSink, LogSinks } from '#contract';
import { createLog, joinLogging } from '../../../kernel/logging/index.ts';

function memorySink() {
  const lines: string[] = [];
  const levels: LogLevel[] = [];
  const sink: LogSink = {
    terminal: false,
    lost: 0,
    write(line, level) {
      lines.push(line);
      levels.push(level);
    },
  };
  return { sink, lines, levels };
}

function sinksOver(stdout: LogSink): LogSinks {
  return { stdout, stderr: stdout, lost: 0, open: () => ({ ...stdout, close() {} }) };
}

function logOver(level: LogLevel) {
  const { sink, lines, levels } = memorySink();
  const log = createLog({ level, outputs: [{ sink, format: (line) => `${line.level} ${line.message}\n` }] });
  return { log, lines, levels };
}

describe('the application log', () => {
  it('writes INFO and above to standard output in the default format without a logging component', () => {
    const { sink, lines } = memorySink();
    const log = createLog(joinLogging([], sinksOver(sink)).application);
    log.debug('unseen');
    log.info('hello');
    equal(lines.length, 1);
    match(lines[0]!, /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d GATEWAY INFO: hello\n$/);
  });

  it('drops lines below its level', () => {
    const { log, lines } = logOver('WARNING');
    log.debug('a');
    log.info('b');
    log.warning('c');
    log.error('d');
    log.critical('e');
    deepEqual(lines, ['WARNING c\n', 'ERROR d\n', 'CRITICAL e\n']);
  });

  it('does not call the message function of a dropped line', () => {
    const { log, lines } = logOver('INFO');
    log.debug(() => {
      throw new Error('called');
    });
    log.at('[X]').debug(() => {
      throw new Error('called');
    });
    deepEqual(lines, []);
  });

  it('writes the result of a message function, or that it failed', () => {
    const { log, lines } = logOver('DEBUG');
    log.debug(() => 'made');
    log.debug(() => {
      throw new Error('broken');
    });
    deepEqual(lines, ['DEBUG made\n', 'DEBUG message could not be formatted: Error: broken\n']);
  });

  it('writes the prefixes of its component before the message', () => {
    const { log, lines } = logOver('DEBUG');
    log.at('[BACKEND: GET /a -> GET /b]').at('[Client]').warning('Status: 503');
    deepEqual(lines, ['WARNING [BACKEND: GET /a -> GET /b][Client] Status: 503\n']);
  });

  it('passes the level of a line to the sink', () => {
    const { log, levels } = logOver('DEBUG');
    log.critical('x');
    deepEqual(levels, ['CRITICAL']);
  });

  it('changes level, format and destination on a reload, also for existing loggers', () => {
    const { log, lines } = logOver('ERROR');
    const section = log.at('[PART]');
    section.info('unseen');
    const { sink, lines: later } = memorySink();
    log.configure({ level: 'INFO', outputs: [{ sink, format: (line) => `new ${line.message}\n` }] });
    section.info('seen');
    deepEqual([lines, later], [[], ['new [PART] seen\n']]);
  });

  it('changes its level at runtime', () => {
    const { log, lines } = logOver('ERROR');
    log.level = 'DEBUG';
    log.debug('now');
    equal(log.level, 'DEBUG');
    deepEqual(lines, ['DEBUG now\n']);
  });

  it('writes nothing and reports no error if it has no output', () => {
    const log = createLog({ level: 'DEBUG', outputs: [] });
    let asked = 0;
    log.critical(() => {
      asked++;
      return 'seen by nobody';
    });
    equal(asked, 0);
  });

  it('writes one line to every output, each in its own format', () => {
    const first = memorySink();
    const second = memorySink();
    const log = createLog({
      level: 'INFO',
      outputs: [
        { sink: first.sink, format: (line) => `1 ${line.message}` },
        { sink: second.sink, format: (line) => `2 ${line.message}` },
      ],
    });
    log.info('x');
    deepEqual([first.lines, second.lines], [['1 x'], ['2 x']]);
  });

  it('escapes line breaks in messages', () => {
    const { sink, lines } = memorySink();
    createLog(joinLogging([], sinksOver(sink)).application).info('a\r\nFAKE \x1b[31m');
    match(lines[0]!, /INFO: a\\r\\nFAKE \\x1b\[31m\n$/);
  });
});

describe('joining the settings of several logging components', () => {
  const { sink } = memorySink();
  const sinks = sinksOver(sink);
  const format = () => 'x';

  it('combines their outputs and uses the level of the first component', () => {
    const joined = joinLogging(
      [
        { level: 'ERROR', outputs: [{ sink, format }] },
        { level: 'DEBUG', outputs: [{ sink, format }] },
      ],
      sinks,
    );
    equal(joined.application.level, 'ERROR');
    equal(joined.application.outputs.length, 2);
  });

  it('replaces the log format unless a component fixes it', () => {
    const other = () => 'y';
    const joined = joinLogging(
      [
        {
          outputs: [
            { sink, format },
            { sink, format, fixed: true },
          ],
        },
        { format: other },
      ],
      sinks,
    );
    deepEqual(
      joined.application.outputs.map((output) => output.format),
      [other, format],
    );
  });

  it('uses the level of the process if they name none', () => {
    equal(joinLogging([{ format }], sinks, { level: 'DEBUG', silent: false }).application.level, 'DEBUG');
    equal(joinLogging([{ level: 'ERROR' }], sinks, { level: 'DEBUG', silent: false }).application.level, 'ERROR');
  });

  it('reports whether any was configured', () => {
    equal(joinLogging([], sinks).configured, false);
    equal(joinLogging([{ level: 'INFO', outputs: [] }], sinks).configured, true);
  });
});
