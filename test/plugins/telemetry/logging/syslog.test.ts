import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { datagramSocket } from '../../../../plugins/telemetry/logging/datagram-socket.ts';
import { openSyslog, syslogFormat } from '../../../../plugins/telemetry/logging/syslog.ts';

const line = (level: 'DEBUG' | 'WARNING' | 'CRITICAL', message: string) => ({
  id: 1,
  time: Date.UTC(2024, 0, 2),
  level,
  component: '',
  text: message,
  message,
});

describe('a syslog line', () => {
  it('contains the facility, severity, tag and fixed pattern', () => {
    const format = syslogFormat('[GW]', 'local3');
    match(format(line('WARNING', 'x')), /^<156>Jan {2}\d \d\d:\d\d:\d\d \S+ \[GW\]\[\d+\]: WARNING > x\n$/);
    match(format(line('DEBUG', 'x')), /^<159>/);
    match(format(line('CRITICAL', 'x')), /^<154>/);
  });

  it('cannot be forged by its message', () => {
    equal(syslogFormat('', 'local0')(line('DEBUG', 'a\n<0>b')).split('\n').length, 2);
  });
});

describe('a syslog daemon with datagram sockets only', () => {
  let folder: string;
  let target: string;
  let log: string;
  let other: string;
  let servers: Server[];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'syslog-'));
    [target, log, other] = [join(folder, 'target'), join(folder, 'dev-log'), join(folder, 'syslog')];
    servers = [];
    await socketAt(target);
    symlinkSync(target, log);
  });
  afterEach(() => {
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true });
  });

  async function socketAt(path: string): Promise<void> {
    const server = createServer().listen(path);
    servers.push(server);
    await once(server, 'listening');
  }

  /** The list of sockets as Linux prints it. */
  const listing = (...sockets: readonly (readonly [kind: string, path: string])[]): string => {
    const file = join(folder, 'listing');
    const lines = sockets.map(
      ([kind, path]) => `0000000000000000: 00000002 00000000 00000000 ${kind} 01 12345 ${path}`,
    );
    writeFileSync(file, ['Num       RefCount Protocol Flags    Type St Inode Path', ...lines, ''].join('\n'));
    return file;
  };

  it('is detected by its socket, even behind a symbolic link', () => {
    equal(datagramSocket([log, other], listing(['0002', target])), log);
  });

  it('is ignored if another socket accepts connections', async () => {
    await socketAt(other);
    equal(datagramSocket([log, other], listing(['0002', target], ['0001', other])), undefined);
  });

  it('is detected even if the first path is a folder', () => {
    equal(datagramSocket([folder, log], listing(['0002', target])), log);
  });

  it('is not assumed if no socket exists or its type is unknown', () => {
    equal(datagramSocket([other], listing()), undefined);
    equal(datagramSocket([log], listing(['0001', target])), undefined);
    equal(datagramSocket([log], join(folder, 'none')), undefined);
  });
});

describe('the syslog connection', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'syslog-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function daemon(path: string) {
    const server = createServer().listen(path);
    await once(server, 'listening');
    return server;
  }

  it('uses the first socket that accepts it', async () => {
    const server = await daemon(join(folder, 'log'));
    const syslog = openSyslog({ lost() {}, restored() {} }, [join(folder, 'none'), join(folder, 'log')]);
    syslog.write(Buffer.from('hello\n'), () => {});
    const [socket] = (await once(server, 'connection')) as [Socket];
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    equal(bytes.toString(), 'hello\n');
    syslog.close();
    await once(socket.resume(), 'end');
    server.close();
  });

  it('logs a missing daemon once, buffers lines and delivers them later', async () => {
    const path = join(folder, 'log');
    const reported: string[] = [];
    let firstLoss = (): void => {};
    const lost = new Promise<void>((resolve) => {
      firstLoss = resolve;
    });
    const events = {
      lost(reason: string) {
        reported.push(`lost ${reason}`);
        firstLoss();
      },
      restored: () => void reported.push('found'),
    };
    const syslog = openSyslog(events, [path], 5);
    let taken = false;
    syslog.write(Buffer.from('held\n'), () => {
      taken = true;
    });
    await lost;
    equal(taken, false);
    const server = await daemon(path);
    const [socket] = (await once(server, 'connection')) as [Socket];
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    equal(bytes.toString(), 'held\n');
    deepEqual(reported, [`lost ${path}: ENOENT`, 'found']);
    syslog.close();
    await once(socket.resume(), 'end');
    server.close();
  });
});
