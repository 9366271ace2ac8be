import { freePort } from '../../free-port.ts';
import { type Backend, openBackend } from './backend.ts';
import { type CertificateFiles, openCertificates } from './certificates.ts';
import { openSystem, type System } from './failing.ts';
import { type Kills, openKills } from './kills.ts';

/** The servers, ports and faults that all gateways of a target share. */
export interface Surroundings {
  readonly ports: readonly number[];
  readonly backend: Backend;
  readonly certificates: CertificateFiles;
  readonly system: System;
  readonly kills: Kills;
  /** Number of worker processes; 0 to serve in this process. */
  readonly workers: number;
  close(): void;
}

export async function openSurroundings(workers: number): Promise<Surroundings> {
  const backend = await openBackend();
  const certificates = openCertificates();
  const system = await openSystem();
  const kills = openKills();
  return {
    ports: [await freePort(), await freePort(), await freePort()],
    backend,
    certificates,
    system,
    kills,
    workers,
    close() {
      kills.close();
      system.restore();
      certificates.remove();
      backend.close();
    },
  };
}
