// Small worlds for tests of plan and engine: real types with minimal rules.

import { DEFAULT_POLICY, type Policy, resourceUid } from '../../model/declaration.ts'
import { destroying, removed } from '../../model/destruction.ts'
import type { Connection, Estate } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { ObservedResource, Resource, Survey } from '../../model/resource.ts'
import { NO_GUESTS, type Rules } from '../../model/rules.ts'
import type { Step, StepOver } from '../../model/step.ts'
import { EMPTY_LEDGER, type Ledger, observedWorld, type World } from '../things/world.ts'

export const NOW = 1_700_000_000_000
export const ORIGIN = { file: 'machines.yaml', line: 1, column: 1 }

export const CONNECTION: Connection = {
  name: 'default',
  driver: 'fake',
  endpoint: 'https://127.0.0.1:8006',
  token: { env: 'TOKEN' },
  estate: 'default',
  ids: { from: 100, to: 199 },
  limits: { perHost: 3, perStorage: 1, reads: 4 },
  origin: ORIGIN,
}

export function machine(
  name: string,
  more: { vmid?: number; memory?: number; policy?: Partial<Policy>; needs?: string[] } = {},
): Resource {
  const key = `Machine/${name}`
  return {
    key,
    uid: resourceUid('default', key),
    kind: 'Machine',
    name,
    driver: 'fake',
    connection: 'default',
    estate: 'default',
    desired: {
      type: 'vm',
      vm: {
        host: 'alpha',
        name,
        power: 'running',
        memory: { dedicatedMb: more.memory ?? 1024 },
        disks: [],
        nics: [],
        ...(more.vmid === undefined ? {} : { vmid: more.vmid }),
      },
    },
    needs: more.needs ?? [],
    policy: { ...DEFAULT_POLICY, ...more.policy },
    origin: ORIGIN,
    generation: `g-${name}-${more.memory ?? 1024}`,
  }
}

/** A guest as a close look shows it. `of`: the resource that its mark names. */
export function guest(
  id: number,
  more: {
    of?: string
    memory?: number
    power?: 'running' | 'stopped'
    lock?: string
    seenOnly?: boolean
    estate?: string
    deletion?: 'Delete' | 'Orphan'
  } = {},
): ObservedResource {
  const power = more.power ?? 'running'
  const mark =
    more.of === undefined
      ? {}
      : {
          mark: {
            uid: resourceUid(more.estate ?? 'default', more.of),
            owner: more.of,
            estate: more.estate ?? 'default',
            deletion: more.deletion ?? ('Delete' as const),
          },
        }
  return {
    connection: 'default',
    type: 'vm',
    externalId: String(id),
    host: 'alpha',
    power,
    ...mark,
    ...(more.lock === undefined ? {} : { lock: more.lock }),
    ...(more.seenOnly === true
      ? {}
      : { close: { config: { memory: String(more.memory ?? 1024) }, digest: 'd1', power, atMs: NOW } }),
  }
}

export function survey(resources: readonly ObservedResource[]): Survey {
  return {
    connection: 'default',
    atMs: NOW,
    hosts: [{ name: 'alpha', online: true }],
    storages: [],
    resources,
    tasks: [],
  }
}

export function worldWith(
  resources: readonly ObservedResource[],
  probes: Record<string, 'free' | 'taken'> = {},
): World {
  return observedWorld(CONNECTION, survey(resources), new Map(), new Map(), new Map(Object.entries(probes)))
}

export function estateOf(resources: readonly Resource[], more: Partial<Estate> = {}): Estate {
  return {
    revision: 'r1',
    connections: [CONNECTION],
    resources,
    approvals: [],
    unreadable: [],
    incomplete: false,
    problems: [],
    ...more,
  }
}

export function recordOf(resource: Resource, more: Partial<ResourceRecord> = {}): ResourceRecord {
  return {
    key: resource.key,
    uid: resource.uid,
    connection: 'default',
    type: 'vm',
    generation: resource.generation,
    policy: resource.policy,
    conditions: [],
    createdMs: NOW - 1000,
    status: 'Running',
    ...more,
  }
}

export function ledgerWith(more: Partial<Ledger> & { known?: readonly ResourceRecord[] } = {}): Ledger {
  const { known, ...rest } = more
  return {
    ...EMPTY_LEDGER,
    fresh: false,
    ...(known === undefined ? {} : { records: new Map(known.map((record) => [record.key, record])) }),
    ...rest,
  }
}

export function step(verb: Step['verb'], id: string, more: Partial<StepOver<'rest'>> = {}): Step {
  return {
    verb,
    summary: `${verb} ${id}`,
    lane: 'rest',
    host: 'alpha',
    queues: ['host/alpha'],
    call: { method: 'POST', path: `/${verb}/${id}`, params: {} },
    disruption: 'none',
    ...(verb === 'delete' ? destroying(removed(guest(Number(id)), [])) : {}),
    ...more,
  } as Step
}

/** Rules where memory and power can differ and the name `replace-me` cannot change: they show every decision. */
export const FAKE_RULES: Rules = {
  ...NO_GUESTS,
  keeps: ({ desired }) => desired.type === 'vm' || desired.type === 'container',
  awaits: () => [],
  undeletable: () => undefined,
  notes: () => [],
  declaredId: ({ desired }) =>
    desired.type === 'vm' && desired.vm.vmid !== undefined ? String(desired.vm.vmid) : undefined,
  listOf: () => undefined,
  hostOf: () => 'alpha',
  choosesId: () => true,
  obstacles: ({ desired }) =>
    desired.type === 'vm' && desired.vm.host === 'nowhere' ? [{ message: 'no such host', allow: 'use alpha' }] : [],
  diff: ({ desired }, observed) => {
    if (desired.type !== 'vm') return []
    const memory = Number(observed.close?.config['memory'])
    const power = observed.close?.power ?? observed.power
    return [
      ...(memory === desired.vm.memory?.dedicatedMb
        ? []
        : [
            {
              path: 'memory',
              from: memory,
              to: desired.vm.memory?.dedicatedMb,
              effect: desired.vm.name === 'replace-me' ? ('replace' as const) : ('restart' as const),
            },
          ]),
      ...(power === desired.vm.power
        ? []
        : [{ path: 'power', from: power, to: desired.vm.power, effect: 'live' as const }]),
    ]
  },
  createSteps: (_resource, id) => [step('create', id), step('start', id)],
  updateSteps: (_resource, observed, changes) =>
    changes.map((change) => step(change.path === 'power' ? 'start' : 'configure', observed.externalId)),
  adoptSteps: (_resource, observed) => [step('mark', observed.externalId)],
  deleteSteps: (destruction) => [
    step('delete', destruction.observed.externalId, { disruption: 'data-loss', ...destroying(destruction) }),
  ],
  readiness: (_resource, observed) => {
    const ready = (observed.close?.power ?? observed.power) === 'running' && observed.close?.agent === 'up'
    return { ready, reason: ready ? 'Up' : 'Booting', message: '', status: ready ? 'Running' : 'Booting' }
  },
}
