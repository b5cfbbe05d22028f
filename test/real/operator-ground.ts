import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { KINDS } from '../../src/kinds/registry.ts'
import { createKubernetesClient, type KubernetesClient } from '../../src/kubernetes/client.ts'
import { at, type Foreign, nameOf, recordsOf } from '../../src/kubernetes/objects.ts'
import {
  madeByCrossplane,
  type ProviderVm,
  providerConfigOf,
  statusByCrossplane,
} from '../../src/operator/testing/made-by-crossplane.ts'
import { type RealApi, startApi } from './kube-apiserver.ts'

/** Without the program that only finds the right Node: signals must reach croft itself. */
export const PROGRAM = [...process.execArgv, join(import.meta.dirname, '../../src/main.ts')]
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const VMS = '/apis/virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1/environmentvms'
/** The longest that one thing may take on a busy computer. */
const PATIENCE_MS = 240_000

export interface Write {
  readonly method: string
  readonly path: string
}

/** A real API server with the provider's real definitions, and `croft sim` as the Proxmox below. */
export interface OperatorGround {
  readonly api: RealApi
  readonly client: KubernetesClient
  /** The simulated Proxmox. */
  readonly endpoint: string
  readonly fingerprint: string
  readonly token: string
  /** For files; goes with the rest. */
  readonly folder: string
  get(path: string): Promise<Foreign | undefined>
  kubectl(...words: readonly string[]): string
  /** Everything that was written to the simulated Proxmox. */
  writes(): Promise<readonly Write[]>
  guests(): Promise<ReadonlyMap<number, Record<string, string>>>
  /** A guest that the provider made, and its object as Crossplane left it. */
  hand(vm: ProviderVm): Promise<void>
  /** An object of one of croft's kinds in the operator's namespace. */
  own(kind: string, name: string, spec: Foreign): Promise<void>
  operator(name: string, ...more: readonly string[]): RunningReplica
  /** From now on replicas are this service account, and have no rights but its own. */
  actAs(account: string): void
  stop(): Promise<void>
}

export interface RunningReplica {
  readonly child: ChildProcess
  output(): string
  /** Ends it as Kubernetes ends a pod; answers its exit code. */
  end(): Promise<number | null>
}

export async function createOperatorGround(definitions: string): Promise<OperatorGround> {
  const children = new Set<ChildProcess>()
  const api = await startApi()
  const client = createKubernetesClient(api.wire)
  const done = async (path: string, body: Foreign) => {
    const made = await client.create(path, body, `make ${path}`)
    assert.equal(made.is, 'answer', JSON.stringify(made))
  }
  const names: string[] = []
  for (const file of readdirSync(definitions))
    for (const document of parseAllDocuments(readFileSync(join(definitions, file), 'utf8'))) {
      const definition = document.toJS() as Foreign
      await done(DEFINITIONS, definition)
      names.push(nameOf(at(definition, 'metadata', 'name')) ?? '')
    }
  await established(client, names)

  const sim = spawn(process.execPath, [
    ...PROGRAM,
    'sim',
    '--preset',
    'homelab',
    '--port',
    '0',
    '--seed',
    '3',
    '--speed',
    '10',
  ])
  children.add(sim)
  const { endpoint = '', token = '', fingerprint = '' } = JSON.parse(await firstLine(sim)) as Record<string, string>
  let kubeconfig = api.kubeconfig
  const folder = mkdtempSync(join(tmpdir(), 'croft-operator-'))
  const door = async (method: string, path: string, body?: unknown): Promise<unknown> =>
    JSON.parse(await ask(`${endpoint}/sim${path}`, method, body))

  await done('/api/v1/namespaces', { metadata: { name: 'croft-system' } })
  await done('/api/v1/namespaces', { metadata: { name: 'crossplane-system' } })
  const credentials = JSON.stringify({ endpoint: `${endpoint}/`, api_token: token, insecure: true })
  await done('/api/v1/namespaces/crossplane-system/secrets', {
    metadata: { name: 'proxmox-credentials' },
    data: { credentials: Buffer.from(credentials).toString('base64') },
  })
  await done('/api/v1/namespaces/croft-system/secrets', {
    metadata: { name: 'proxmox-token' },
    data: { token: Buffer.from(token).toString('base64') },
  })
  const secretRef = { name: 'proxmox-credentials', namespace: 'crossplane-system', key: 'credentials' }
  await done('/apis/proxmoxbpg.crossplane.io/v1beta1/providerconfigs', {
    apiVersion: 'proxmoxbpg.crossplane.io/v1beta1',
    kind: 'ProviderConfig',
    metadata: { name: 'default', annotations: { 'croft.dev/fingerprint': fingerprint } },
    spec: { credentials: { source: 'Secret', secretRef } },
  })

  return {
    api,
    client,
    endpoint,
    fingerprint,
    token,
    folder,
    async own(kind, name, spec) {
      const plural = KINDS.find((one) => one.kind === kind)?.plural ?? ''
      const path = `/apis/croft.dev/v1alpha1/namespaces/croft-system/${plural}`
      await done(path, { apiVersion: 'croft.dev/v1alpha1', kind, metadata: { name }, spec })
    },
    async get(path) {
      const got = await client.get(path)
      if (got.is === 'error' && got.status === 404) return undefined
      assert.equal(got.is, 'answer', JSON.stringify(got))
      return got.is === 'answer' ? got.value : undefined
    },
    kubectl(...words) {
      const ran = spawnSync(
        'kubectl',
        ['--kubeconfig', api.kubeconfig, '--cache-dir', join(folder, 'kube'), ...words],
        {
          encoding: 'utf8',
          timeout: PATIENCE_MS,
        },
      )
      assert.equal(ran.status, 0, `kubectl ${words.join(' ')}: ${ran.stderr}`)
      return ran.stdout
    },
    writes: async () => (await door('GET', '/writes')) as readonly Write[],
    async guests() {
      const { guests } = (await door('GET', '/state')) as { readonly guests: readonly Foreign[] }
      return new Map(guests.map((guest) => [Number(guest.vmid), guest.config as Record<string, string>]))
    },
    async hand(vm) {
      await door('POST', `/guests/${vm.vmid}`, { node: vm.node, status: 'running', ...providerConfigOf(vm) })
      await done(VMS, madeByCrossplane(vm))
      const said = await client.merge(`${VMS}/${vm.name}/status`, { status: statusByCrossplane(vm) }, 'say so')
      assert.equal(said.is, 'answer', JSON.stringify(said))
    },
    operator(name, ...more) {
      const words = ['operator', '--kubeconfig', kubeconfig, '--namespace', 'croft-system', '--name', name, ...more]
      const child = spawn(process.execPath, [...PROGRAM, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
      children.add(child)
      let text = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (more: string) => {
          text += more
        })
      return {
        child,
        output: () => text,
        async end() {
          child.kill('SIGTERM')
          await exited(child)
          return child.exitCode
        },
      }
    },
    actAs(account) {
      kubeconfig = api.kubeconfigOf('croft-system', account)
    },
    async stop() {
      for (const child of children) {
        // One that was stopped does not end before it goes on.
        child.kill('SIGCONT')
        child.kill('SIGKILL')
        await exited(child)
      }
      await api.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await new Promise((over) => child.once('exit', over))
}

export async function established(client: KubernetesClient, names: readonly string[]): Promise<void> {
  for (const name of names)
    await until(`${name} is established`, async () => {
      const got = await client.get(`${DEFINITIONS}/${name}`)
      const conditions = got.is === 'answer' ? recordsOf(at(got.value, 'status', 'conditions')) : []
      return conditions.some(({ type, status }) => type === 'Established' && status === 'True')
    })
}

/** Waits without a bound that a slow computer would miss; the message says what did not come, and what the replica says. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  replica?: RunningReplica,
): Promise<void> {
  const endMs = Date.now() + PATIENCE_MS
  while (!(await holds())) {
    const ended = replica !== undefined && replica.child.exitCode !== null
    assert.ok(!ended && Date.now() < endMs, `it did not come that ${what}\n${replica?.output() ?? ''}`)
    await new Promise((over) => setTimeout(over, 300))
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      if (text.includes('\n')) done(text.split('\n')[0] ?? '')
    })
    child.once('exit', () => fail(new Error('croft sim ended')))
  })
}

/** The simulator's own door, on loopback; its certificate is made at each start. */
function ask(address: string, method: string, body: unknown): Promise<string> {
  return new Promise((done, fail) => {
    const asked = request(address, { method, rejectUnauthorized: false, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more
      })
      response.on('end', () =>
        response.statusCode === 200 ? done(text) : fail(new Error(`${method} ${address}: ${text}`)),
      )
    })
    asked.on('error', fail)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
