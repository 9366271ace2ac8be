export { createAccessWriter, type RecordWriter, together } from './access.ts';
export { toFile, toStandard, toStream } from './destination.ts';
export { type DefaultLogging, type JoinedLogging, joinLogging } from './join.ts';
export { type ApplicationLog, createLog, type LogSettings } from './log.ts';
export { createSink, type Sink, type SinkOptions } from './sink.ts';
export { createSinks, type ProcessSinks, type Standard } from './sinks.ts';
