import { explainFailure } from '../../k3s/flags.ts'
import type { NodeFacts } from '../../k3s/node-program.ts'
import { at, type Foreign, isRecord, nameOf, recordOf, recordsOf, textOf } from '../../kubernetes/objects.ts'
import { optional } from './optional.ts'

/** What a node says about itself, read without believing it: a node may be broken, old or somebody else's. */
export function readFacts(value: unknown): NodeFacts | undefined {
  if (!isRecord(value) || typeof value.data !== 'string' || typeof value.service !== 'string') return undefined
  const service = oneOf(value.service, ['absent', 'stopped', 'starting', 'running', 'failed'] as const)
  if (service === undefined) return undefined
  const clockMs = numberOf(value.clockMs)
  return {
    machineId: nameOf(value.machineId) ?? '',
    hostname: nameOf(value.hostname) ?? '',
    bootId: nameOf(value.bootId) ?? '',
    clockMs: clockMs ?? 0,
    architecture: nameOf(value.architecture) ?? '',
    cloudInit: oneOf(value.cloudInit, ['absent', 'running', 'done', 'error'] as const) ?? 'absent',
    service,
    serviceSinceMs: numberOf(value.serviceSinceMs) ?? 0,
    data: nameOf(value.data) ?? 'other',
    mixedCa: value.mixedCa === true,
    gates: recordsOf(value.gates).map((gate) => ({
      name: nameOf(gate.name) ?? '',
      message: textOf(gate.message) ?? '',
      sinceMs: numberOf(gate.sinceMs) ?? 0,
    })),
    snapshots: recordsOf(value.snapshots).flatMap(readSnapshot),
    ...optional('cloudInitError', textOf(value.cloudInitError)),
    ...optional('role', oneOf(value.role, ['server', 'agent'] as const)),
    ...optional('version', nameOf(value.version)),
    ...optional('configHash', nameOf(value.configHash)),
    ...optional('failure', explained(textOf(value.failure))),
    ...optional('etcd', readEtcd(value.etcd)),
    ...optional('datastore', oneOf(value.datastore, ['sqlite'] as const)),
    ...optional('job', readJob(value.job)),
  }
}

function explained(failure: string | undefined): string | undefined {
  return failure === undefined ? undefined : explainFailure(failure)
}

function readEtcd(value: unknown): NodeFacts['etcd'] {
  if (!isRecord(value) || !Array.isArray(value.members)) return undefined
  const members = recordsOf(value.members).flatMap((member) => {
    const id = nameOf(member.id)
    return id === undefined ? [] : [{ id, name: nameOf(member.name) ?? '', learner: member.learner === true }]
  })
  return {
    members,
    ...optional('leader', nameOf(value.leader)),
    ...optional('self', nameOf(value.self)),
    ...optional('version', nameOf(value.version)),
  }
}

function readSnapshot(value: Foreign): NodeFacts['snapshots'] {
  const name = nameOf(value.name)
  if (name === undefined) return []
  return [
    {
      name,
      path: textOf(value.path) ?? '',
      atMs: numberOf(value.atMs) ?? 0,
      bytes: numberOf(value.bytes) ?? 0,
    },
  ]
}

function readJob(value: unknown): NodeFacts['job'] {
  const job = recordOf(value)
  const [name, state] = [nameOf(job.name), oneOf(job.state, ['running', 'done', 'failed'] as const)]
  if (name === undefined || state === undefined) return undefined
  return { name, state, sinceMs: numberOf(at(job, 'sinceMs')) ?? 0, ...optional('message', textOf(job.message)) }
}

function oneOf<T extends string>(value: unknown, words: readonly T[]): T | undefined {
  return words.find((word) => word === value)
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
