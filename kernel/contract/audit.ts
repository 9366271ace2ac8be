import type { DataObject } from '../values/data.ts';
import type { EndpointConfig, ServiceConfig } from './config.ts';
import type { Level, Namespace } from './extra-config.ts';

/** A component where it stands. What it is configured with is not yet validated. */
export interface AuditedComponent {
  readonly namespace: Namespace;
  readonly level: Level;
  /** By present names. */
  readonly pointer: string;
  readonly settings: Readonly<DataObject>;
}

/** A part of the configuration and its pointer, by present names. */
export interface AuditedSection<T> {
  readonly config: T;
  readonly pointer: string;
}

/** What the audit asks of files that the configuration names. */
export interface AuditedFiles {
  /** The text of a file; undefined when it cannot be read. */
  text(path: string): string | undefined;
  /** True when accounts other than the owner and the group may write there. */
  isOpen(path: string): boolean;
}

/** What rules look at. */
export interface AuditSubject {
  readonly config: ServiceConfig;
  /** Root fields by name, those that this release does not serve included. */
  readonly root: Readonly<DataObject>;
  readonly endpoints: readonly AuditedSection<EndpointConfig>[];
  readonly agents: readonly AuditedSection<DataObject>[];
  /** Of endpoints and agents together. */
  readonly backendCount: number;
  readonly components: readonly AuditedComponent[];
  /** Those of the document, before old forms are read as present ones; their pointers are the document's. */
  readonly written: readonly AuditedComponent[];
  readonly files: AuditedFiles;
  /** Pointers of secrets that stand in the configuration as they are. */
  secrets(): readonly string[];
  /** Pointers of endpoints without access control that serve protected paths written with a path parameter. */
  openNeighbors(): readonly string[];
}

/** From the gravest to the mildest. */
export const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const;

export type Severity = (typeof severities)[number];

/** One thing the audit looks for: in `Plugin.audit`, beside those that the gateway has. */
export interface AuditRule {
  /** Chapter, section, number, or for a plugin of another make its namespace and a word; never given to another rule. */
  readonly id: string;
  readonly severity: Severity;
  /** What to do about it, in one sentence. */
  readonly message: string;
  /** Components the message speaks for: the rule is silent where the gateway has none of them. */
  readonly recommends?: readonly Namespace[];
  /** Rules that say more about the same place: where one of them is told, this one is not. */
  readonly yieldsTo?: readonly string[];
  /** `find` looked at what is `written`: its pointers are the document's. */
  readonly ofDocument?: true;
  /** What the configuration alone cannot decide is told, and does not fail the audit. */
  readonly isNote?: true;
  /** Pointers, by present names, of everything the rule objects to; the rule fires when there is any. */
  readonly find: (audited: AuditSubject) => readonly string[];
}
