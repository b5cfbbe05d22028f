import { hashInConfig } from '../../src/k3s/config.ts'
import type { NodeAnswer, NodeFacts } from '../../src/k3s/node-program.ts'
import { defined } from '../../src/lib/defined.ts'
import { authorityHash, certificatesIn, isTrusted, readAuthorities } from '../k3s/authorities.ts'
import { CONFIG_PATH, flagText } from '../k3s/config-file.ts'
import {
  CLIENT_KUBELET,
  DATA,
  installedVersion,
  keepsFile,
  leafEnd,
  memberOnDisk,
  unitRole,
  wipesOf,
} from '../k3s/disk.ts'
import { isWritable } from '../k3s/etcd.ts'
import { fetchedVersion } from '../k3s/install.ts'
import { serviceOf } from '../k3s/service.ts'
import { snapshotsOn } from '../k3s/snapshots.ts'
import type { Computer, K3sProcess } from '../world/types.ts'
import type { Outcome } from './commands.ts'
import type { Files } from './files.ts'
import { closedGates, hasGates } from './gates.ts'
import { NODE_VERBS, optionalFiles } from './node-verbs.ts'

/** Answers as the program does that croft puts on every node. */
export function nodeProgram(computer: Computer, args: readonly string[], input: string): Outcome {
  const [verb = '', ...rest] = args
  if (verb === 'facts') return { out: `${JSON.stringify({ ...facts(computer), ...authoritiesOn(computer) })}\n` }
  const deed = NODE_VERBS[verb]
  if (deed === undefined) return answer({ ok: false, error: `there is no verb ${verb}` })
  try {
    return answer(deed(computer, rest, input))
  } catch (error) {
    return answer({ ok: false, error: error instanceof Error ? error.message : String(error) })
  }
}

function answer(result: NodeAnswer): Outcome {
  return { out: `${JSON.stringify(result)}\n`, code: result.ok ? 0 : 1 }
}

export function facts(computer: Computer): NodeFacts {
  const { machine, world } = computer
  const { files, system } = machine
  const service = serviceOf(computer)
  const role = unitRole(files)
  const version = installedVersion(files)
  const config = hashInConfig(new TextDecoder().decode(files.read(CONFIG_PATH)))
  const held = dataOn(computer)
  return {
    machineId: system.machineId,
    hostname: computer.hostname(),
    bootId: system.bootId,
    clockMs: Math.floor(world.clock.now()),
    architecture: 'x86_64',
    cloudInit: system.cloudInit,
    ...defined({ cloudInitError: system.cloudInitError }),
    ...serviceFacts(computer),
    wipes: wipesOf(files),
    ...defined({ role, version, fetched: fetchedVersion(files), configHash: config }),
    begins: /^"?cluster-init"?: *true/m.test(files.text(CONFIG_PATH) ?? ''),
    ...held,
    ...(machine.trouble.diskFull === true ? { full: [{ path: '/var/lib/rancher/k3s', freeKb: 0 }] } : {}),
    ...certificates(files),
    ...(service.failure === undefined || service.state === 'running' ? {} : { failure: failureOf(service) }),
    gates: gatesNow(computer),
    ...etcdFacts(computer),
    files: optionalFiles(files),
    snapshots: snapshotsOn(computer),
    ...(machine.job === undefined ? {} : { job: { ...machine.job } }),
  }
}

/** In the words of openssl. */
function certificates(files: Files): Pick<NodeFacts, 'certificatesEnd'> {
  const endMs = leafEnd(files)
  return endMs === undefined ? {} : { certificatesEnd: [new Date(endMs).toUTCString().replace(/^\w+, /, '')] }
}

/** The last fatal line; where a setting differs, with the warning before it, which alone says which. */
function failureOf({ failure = '', journal }: ReturnType<typeof serviceOf>): string {
  if (!failure.includes('configuration value mismatch')) return failure
  const warning = journal.findLast(({ message }) => message.startsWith('critical configuration mismatched: '))
  return `${failure} (${/^[^.[]*/.exec(warning?.message ?? '')?.[0] ?? ''})`
}

/** The gates are tried from the first boot on, whether there is a K3s or not. */
function gatesNow(computer: Computer): NodeFacts['gates'] {
  const service = serviceOf(computer)
  const early = service.process === undefined && service.state === 'stopped' && hasGates(computer)
  if (early && computer.machine.system.cloudInit !== 'running')
    service.gates = closedGates(computer, service.gates).filter(({ name }) => name !== 'api')
  return service.gates
}

/** As systemd tells it: what dies is started again, and counts as failed only when it has died more than once. */
function serviceFacts(computer: Computer): Pick<NodeFacts, 'service' | 'serviceSinceMs'> {
  if (unitRole(computer.machine.files) === undefined) return { service: 'absent', serviceSinceMs: 0 }
  const { orderedMs, restarts, sinceMs, state, wanted } = serviceOf(computer)
  const dying = state === 'failed' && wanted && restarts < 2
  const service = dying ? 'starting' : state
  return { service, serviceSinceMs: Math.floor(service === 'starting' ? orderedMs : sinceMs) }
}

/** Whose data is on the disk: servers keep the CA itself, agents a copy of it. */
function dataOn(computer: Computer): Pick<NodeFacts, 'data' | 'mixedCa'> {
  const { files } = computer.machine
  const nowMs = computer.world.clock.now()
  const own = readAuthorities(files).get('server-ca.crt')
  const copy = files.text(`${DATA}/agent/server-ca.crt`)
  const pem = own ?? copy
  const anything =
    ['db/etcd', 'tls', 'cred'].some((folder) => hasFiles(files, `${DATA}/server/${folder}`)) ||
    files.read(CLIENT_KUBELET) !== undefined
  if (pem === undefined) return { data: anything ? 'other' : 'none', mixedCa: false }
  try {
    const data = authorityHash(pem, nowMs)
    const mixed = own !== undefined && copy !== undefined && own !== copy
    return { data, mixedCa: mixed || !leavesFit(computer, pem) }
  } catch {
    return { data: 'other', mixedCa: false }
  }
}

function hasFiles(files: Files, folder: string): boolean {
  return files
    .list(folder)
    .some((name) => files.read(`${folder}/${name}`) !== undefined || hasFiles(files, `${folder}/${name}`))
}

/** The files themselves, as the real program sends them. */
function authoritiesOn({ machine: { files } }: Computer): Readonly<Record<string, string>> {
  const own = readAuthorities(files).get('server-ca.crt')
  const copy = files.text(`${DATA}/agent/server-ca.crt`)
  if (own === undefined && copy === undefined) return {}
  const packed = (pem: string | undefined) =>
    pem === undefined ? undefined : Buffer.from(pem, 'latin1').toString('base64')
  return { data: 'ca', ...defined({ ca: packed(own), caCopy: packed(copy) }) }
}

/** A leaf that another CA made gives away a disk on which two clusters were mixed. */
function leavesFit(computer: Computer, ca: string): boolean {
  const leaf = computer.machine.files.text(`${DATA}/server/tls/serving-kube-apiserver.crt`)
  if (leaf === undefined || !leaf.includes('BEGIN CERTIFICATE')) return true
  return isTrusted(certificatesIn(leaf), certificatesIn(ca), computer.world.clock.now())
}

/** Of a small K3s; the simulated one keeps no pages. */
const DATABASE_BYTES = 12_345_344

/** Absent where etcd does not answer: without a majority it does not list its members. */
function etcdFacts(computer: Computer): Pick<NodeFacts, 'etcd' | 'datastore'> {
  const { files } = computer.machine
  const process = computer.machine.k3s?.process
  if (process !== undefined && flagText(process.flags, 'datastore-endpoint') !== '') return { datastore: 'external' }
  const held: Pick<NodeFacts, 'datastore'> =
    memberOnDisk(files) === undefined ? {} : { datastore: keepsFile(files) ? 'sqlite' : 'etcd' }
  const etcd = etcdAnswer(process)
  return held.datastore === 'sqlite' || etcd === undefined ? held : { ...held, etcd }
}

function etcdAnswer(process: K3sProcess | undefined): NodeFacts['etcd'] {
  const cluster = process?.cluster
  if (process === undefined || cluster === undefined || process.role !== 'server') return undefined
  const self = process.member
  if (self === undefined || process.phase === 'removed' || !cluster.members.has(self) || !isWritable(cluster))
    return undefined
  if (cluster.members.get(self)?.process !== process) return undefined
  const members = [...cluster.members.values()].map(({ id, name, learner }) => ({ id, name, learner }))
  const leader = cluster.leader
  return { members, ...defined({ leader }), self, version: process.etcd, bytes: DATABASE_BYTES, answerMs: 4 }
}
