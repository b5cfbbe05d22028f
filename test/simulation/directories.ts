import { findKind } from '../../src/kinds/registry.ts'
import { integerBetween, type Random } from '../../src/lib/random.ts'
import type { ClusterSecrets } from '../../src/model/cluster.ts'
import type { Estate } from '../../src/model/estate.ts'
import { link } from '../../src/plan/link.ts'
import { createParseCache } from '../../src/source/files/parse-cache.ts'
import { readFiles } from '../../src/source/files/read-files.ts'
import { createMemoryStore, type MemoryDisk } from '../../src/store/memory.ts'
import { clusterGround } from '../cluster-ground.ts'
import { HOSTS } from './cluster-run.ts'
import { committedAfter } from './git-history.ts'

/** What the files of a directory say. A clone has a separate copy, which may be behind. */
export interface Files {
  /** Names of plain machines. */
  readonly machines: ReadonlySet<string>
  /** Nodes of its cluster, where it declares one: `a-s1`, or boxes `h-s1` of a cluster made by hand. */
  readonly servers: readonly string[]
  readonly agents: readonly string[]
  readonly staleState: 'refuse' | 'wipe' | 'recreate'
  readonly protect: boolean
  /** Absent: made before there were uids, and not named since. */
  readonly uid: string | undefined
}

/** One directory: its files, its database, its vault, and where it lies. */
export interface Directory {
  readonly letter: string
  /** `a`, or `a'` for a clone. */
  readonly title: string
  files: Files
  /** Everything that the history of this directory has ever declared. */
  history: readonly Files[]
  place: string
  /** Is it a clone with its history, or only a copy of the files? */
  git: boolean
  disk: MemoryDisk
  vault: Map<string, ClusterSecrets>
  older: { readonly disk: MemoryDisk; readonly vault: Map<string, ClusterSecrets> } | undefined
}

export const LETTERS = ['a', 'b', 'c', 'd'] as const
const VERSION = 'v1.34.3+k3s1'
const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'

/** The boxes of the cluster made by hand, with their addresses. */
export const HAND_MADE: ReadonlyMap<string, string> = new Map(
  ['h-s1', 'h-s2', 'h-s3'].map((name, at) => [name, `192.168.5.${10 + at}`]),
)

const cache = createParseCache()
const encoder = new TextEncoder()
const read = new Map<string, Estate>()

function yamlOf(letter: string, files: Files): string {
  const at = LETTERS.indexOf(letter as 'a')
  const from = 80 + 20 * at
  const ground = clusterGround(HOSTS, { from: `192.168.4.${from}`, to: `192.168.4.${from + 18}` })
    .replace('fileName: noble-server', `fileName: ${letter}-noble-server`)
    .replaceAll('spec:\n  bindings', `spec:\n  wake: {mac: "bc:24:11:00:00:01"}\n  bindings`)
  const boxes = files.servers.filter((name) => HAND_MADE.has(name))
  return [
    `kind: Proxmox
metadata: {name: default}
spec:
  endpoint: https://127.0.0.1:8006
  token: {env: PROXMOX_TOKEN}
`,
    ground.replace(/^apiVersion: croft.dev\/v1alpha1\n/, ''),
    ...(files.uid === undefined ? [] : [`kind: Estate\nmetadata: {name: home}\nspec: {uid: ${files.uid}}\n`]),
    ...[...files.machines].sort().map(
      (name) => `kind: Machine
metadata: {name: ${name}}
spec: {host: ${HOSTS[name.length % HOSTS.length]}, class: node, networks: [{network: lan}]}
`,
    ),
    ...boxes.map(
      (name) => `kind: Host
metadata: {name: ${name}}
spec: {ssh: {address: ${HAND_MADE.get(name)}, hostKeys: ["${HOST_KEY}"]}}
`,
    ),
    ...(files.servers.length === 0 ? [] : [clusterOf(from, files)]),
  ]
    .map((text) => `---\napiVersion: croft.dev/v1alpha1\n${text}`)
    .join('')
}

function clusterOf(from: number, { servers, agents, staleState, protect }: Files): string {
  const onBoxes = servers.some((name) => HAND_MADE.has(name))
  const node = (name: string, index: number) =>
    onBoxes
      ? `    - {machine: Host/${name}, addresses: [${HAND_MADE.get(name)}]}\n`
      : `    - {name: ${name}, host: ${HOSTS[index % HOSTS.length]}}\n`
  const endpoint = onBoxes
    ? `endpoint: {server: ${servers[0]}}\n  secretsEncryption: false`
    : `endpoint: {vip: 192.168.4.${from + 19}, kubeVip: {version: v1.0.3}}\n  network: lan\n  class: node`
  return `kind: Cluster
metadata: {name: homelab}
spec:
  version: ${VERSION}
  ${endpoint}
  staleState: ${staleState}
  ghostMembers: remove
  protect: ${protect}
  upgrade: {soak: 10s}
  servers:
${servers.map(node).join('')}${agents.length === 0 ? '' : `  agents:\n${agents.map(node).join('')}`}`
}

function estateAt(letter: string, files: Files, place: string): Estate {
  const text = yamlOf(letter, files)
  const name = `${place}\n${text}`
  const known = read.get(name)
  if (known !== undefined) return known
  const found = readFiles({ files: [{ path: 'estate.yaml', bytes: encoder.encode(text) }], links: [], cache })
  const estate = link({ ...found, place }, { findKind })
  const wrong = estate.problems.filter(({ severity }) => severity === 'error')
  if (wrong.length > 0)
    throw new Error(`${wrong.map(({ message, field }) => `${field}: ${message}`).join('\n')}\n${text}`)
  read.set(name, estate)
  return estate
}

/** What the product reads from the directory, with its history where it has one. */
export function estateOf({ letter, files, place, git, history }: Directory): Estate {
  const now = estateAt(letter, files, place)
  if (!git) return now
  return history.reduce((estate, before) => {
    const { history: asked } = committedAfter(estateAt(letter, before, place), now)
    const { history: rest } = estate
    return {
      ...now,
      history: async (keys, signal) =>
        new Map([...((await asked?.(keys, signal)) ?? []), ...((await rest?.(keys, signal)) ?? [])]),
    }
  }, now)
}

export function newDirectory(random: Random, letter: string, cluster: 'none' | 'machines' | 'hand-made'): Directory {
  const servers =
    cluster === 'machines' ? [1, 2, 3].map((at) => `${letter}-s${at}`) : cluster === 'none' ? [] : [...HAND_MADE.keys()]
  return {
    letter,
    title: letter,
    files: {
      machines: new Set([`${letter}-0`]),
      servers,
      agents: [],
      staleState: oneOf(random, ['refuse', 'wipe', 'recreate']),
      protect: random.next() < 0.5,
      uid: random.next() < 0.6 ? letter.repeat(16) : undefined,
    },
    history: [],
    place: `directory /${letter}`,
    git: random.next() < 0.5,
    disk: createMemoryStore().disk,
    vault: new Map(),
    older: undefined,
  }
}

/** Another checkout of the same repository, on another computer. */
export function cloneOf(one: Directory): Directory {
  return {
    ...one,
    title: `${one.letter}'`,
    place: `directory /clone/${one.letter}`,
    git: true,
    disk: createMemoryStore().disk,
    vault: new Map(),
    older: undefined,
  }
}

function commit(one: Directory, files: Files): void {
  one.history = [...one.history, one.files]
  one.files = files
}

export function oneOf<T>(random: Random, all: readonly T[]): T {
  return all[integerBetween(random, 0, all.length - 1)] as T
}

/** One of the things that happen to people and their files. */
export function happen(random: Random, one: Directory, all: readonly Directory[], count: number): string {
  const { files, letter, title } = one
  const own = files.servers.filter((name) => !HAND_MADE.has(name))
  switch (integerBetween(random, 0, 13)) {
    case 0: {
      const name = `${letter}-${count}`
      commit(one, { ...files, machines: new Set([...files.machines, name]) })
      return `${title} declares ${name}`
    }
    case 1: {
      const [name] = [...files.machines].filter(() => random.next() < 0.6)
      commit(one, { ...files, machines: new Set([...files.machines].filter((other) => other !== name)) })
      return `${title} removes ${name ?? 'nothing'}`
    }
    case 2:
      one.older = { disk: createMemoryStore(one.disk).snapshot(), vault: new Map(one.vault) }
      return `${title} is backed up`
    case 3:
      one.disk = createMemoryStore().disk
      return `${title} loses its database`
    case 4:
      one.vault = new Map()
      return `${title} loses its vault`
    case 5:
      one.disk = createMemoryStore().disk
      one.vault = new Map()
      return `${title} loses its whole state`
    case 6:
      if (one.older !== undefined) one.disk = one.older.disk
      return `${title} gets an older database back`
    case 7:
      if (one.older !== undefined) one.vault = new Map(one.older.vault)
      return `${title} gets an older vault back`
    case 8:
      one.place = `directory /${letter}/${count}`
      one.disk = createMemoryStore().disk
      one.vault = new Map()
      one.git = random.next() < 0.5
      return `${title} is moved to ${one.place}${one.git ? '' : ', without its history'}`
    case 9: {
      const other = all.find((two) => two.letter === letter && two !== one)
      if (other === undefined) return `${title} has no clone to pull from`
      one.history = [...one.history, one.files, ...other.history]
      one.files = other.files
      return `${title} pulls from ${other.title}`
    }
    case 10:
      commit(one, { ...files, staleState: oneOf(random, ['refuse', 'wipe', 'recreate']), protect: random.next() < 0.5 })
      return `${title} says staleState: ${one.files.staleState}, protect: ${one.files.protect}`
    case 11: {
      if (own.length === 0) return `${title} has no cluster of its own to change`
      const agents = files.agents.length === 0 ? [`${letter}-w${count}`] : []
      commit(one, { ...files, agents })
      return `${title} has the agents ${agents.join() || 'none'}`
    }
    case 12: {
      const boxes = files.servers.filter((name) => HAND_MADE.has(name))
      const [first = '', second = ''] = own
      const last = own.includes(`${letter}-s3`) ? 4 : 3
      const taken = random.next() < 0.7 ? [...HAND_MADE.keys()] : ['h-s2', 'h-s3']
      const servers = own.length > 0 ? [first, second, `${letter}-s${last}`] : boxes.length > 0 ? [] : taken
      commit(one, { ...files, servers })
      return `${title} has the servers ${servers.join() || 'none'}`
    }
    default:
      if (files.uid === undefined) commit(one, { ...files, uid: letter.repeat(16) })
      return `${title} is named`
  }
}
