import { spawn } from 'node:child_process';
import { Pool } from 'undici';
import { Bench, pipeRequest } from './http-client.ts';
import { Call, ByteStream } from '#contract';
const server = spawn(process.execPath, ['/tmp/bserver.mjs']);
const port: string = await new Promise((r) => server.stdout.once('data', (d) => r(String(d).trim())));
const origin = `http://127.0.0.1:${port}`;
const bench = new Bench();
const gate = await bench.client();
const call = gate.attached.protocol!.call;
const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0, allowH2: false, keepAliveTimeout: 1e6 });
const headers = ['User-Agent', 'Sluice Version 1', 'X-Forwarded-For', '10.0.0.9', 'X-Forwarded-Host', 'api.test'];
class Min { chunks: Buffer[] = []; r; constructor(r: (n: number) => void) { this.r = r; } onRequestStart() {} onResponseStart() {} onResponseData(_c: unknown, b: Buffer) { this.chunks.push(b); } onResponseEnd() { this.r(this.chunks[0]!.length); } onResponseError(_c: unknown, e: Error) { throw e; } }
const bare = () => new Promise<number>((r) => { pool.dispatch({ path: '/', method: 'GET', headers: [...headers, 'Accept-Encoding', 'gzip'] }, new Min(r)); });
const ours = async () => { const c = new Call(); const reply = await call(pipeRequest({ origin, headers: headers.slice() }), c); const b = (reply.body as ByteStream).collect(1e8); return (b instanceof Uint8Array ? b : await b).length; };
const build = async () => { const c = new Call(); return pipeRequest({ origin, headers: headers.slice() }).headers.list.length + (c.reason ? 1 : 0); };
async function run(fn: () => Promise<number>, n: number, conc = 32) { let left = n; await Promise.all(Array.from({ length: conc }, async () => { while (left-- > 0) await fn(); })); }
const res: Record<string, number[]> = { bare: [], ours: [], build: [] };
const fns = { bare, ours, build } as const;
for (const k of ['bare', 'ours', 'build'] as const) await run(fns[k], 20000);
for (let round = 0; round < 9; round++) for (const k of (round % 2 ? ['bare', 'ours', 'build'] : ['ours', 'bare', 'build']) as (keyof typeof fns)[]) {
  const N = 15000; const c0 = process.cpuUsage(); await run(fns[k], N); const c = process.cpuUsage(c0); res[k]!.push((c.user + c.system) / N);
}
for (const k in res) { const s = res[k]!.sort((a, b) => a - b); console.log(k, 'median', s[4]!.toFixed(2), 'us min', s[0]!.toFixed(2), 'max', s[8]!.toFixed(2)); }
server.kill(); await pool.close(); await bench.close();
