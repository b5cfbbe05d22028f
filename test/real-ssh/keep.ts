import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DriverDeps } from '../../src/drivers/port.ts'
import { sshDriver } from '../../src/drivers/ssh/driver.ts'
import { createEngine } from '../../src/engine/create.ts'
import type { Engine, PassReport } from '../../src/engine/engine.ts'
import { findKind } from '../../src/kinds/registry.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Estate } from '../../src/model/estate.ts'
import { Secret } from '../../src/model/secret.ts'
import { link } from '../../src/plan/link.ts'
import { readTree } from '../../src/source/read-tree.ts'
import { createMemoryStore, type MemoryDisk } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import type { Lab } from './lab.ts'

/** The Hosts of a lab as a person would declare them. */
export function hostsYaml(lab: Lab, more: (name: string) => string = () => ''): string {
  return lab.hosts
    .map(
      ({ name, address, hostKey }) =>
        `apiVersion: croft.dev/v1alpha1\nkind: Host\nmetadata: {name: ${name}, labels: {lab: "yes"}}\nspec:\n  ssh:\n    address: ${address}\n    hostKeys: [${hostKey}]\n    key: {file: ${lab.key}}\n${more(name)}`,
    )
    .join('---\n')
}

/** Reads these manifests as a directory of their own. */
export async function estateOf(directory: string, files: Readonly<Record<string, string>>): Promise<Estate> {
  mkdirSync(directory, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const revision = await readTree(directory)
  return link(revision, { findKind, problemAt: revision.problemAt })
}

/** The real engine with the real driver over the lab's shells. */
export function engineFor(
  lab: Lab,
  secrets: Readonly<Record<string, string>> = {},
  kept?: Store,
): { engine: Engine; store: Store } {
  const store = kept ?? createMemoryStore()
  const random = seededRandom(11)
  const deps: DriverDeps = {
    clock: systemClock,
    random,
    openWire() {
      throw new Error('nothing here speaks HTTPS')
    },
    resolveSecret: async (reference) => {
      const value = 'env' in reference ? secrets[reference.env] : undefined
      if (value === undefined) throw new Error('no such secret')
      return new Secret(value)
    },
    openShell: (target) => lab.shells.open(target),
  }
  return {
    engine: createEngine({ clock: systemClock, random, store, drivers: [sshDriver], driverDeps: deps }),
    store,
  }
}

/** Passes until nothing is left to do, or so many. */
export async function settle(
  engine: Engine,
  estate: Estate,
  most = 60,
): Promise<{ readonly passes: number; readonly last: PassReport; readonly effects: number }> {
  let effects = 0
  for (let passes = 1; ; passes++) {
    const last = await engine.pass(estate, new AbortController().signal)
    effects += last.effects
    if (last.settled || passes >= most) return { passes, last, effects }
    await new Promise((resolve) => setTimeout(resolve, Math.min(last.lookAgainMs, 300)))
  }
}

/** The stores of a lab's engines: an item that left the declaration is removed only if a record names it. */
const disks = new WeakMap<Lab, MemoryDisk>()

/** Runs a new engine on the lab's one database, and returns what is left to do. */
export async function kept(
  one: Lab,
  estate: Estate,
): Promise<{ readonly effects: number; readonly left: readonly string[] }> {
  const store = createMemoryStore(disks.get(one))
  disks.set(one, store.disk)
  const { engine } = engineFor(one, {}, store)
  const { effects, last } = await settle(engine, estate, 8)
  await engine.close()
  const left = last.plan.entries.flatMap(({ action }) => ('reason' in action ? [action.reason] : []))
  return { effects, left }
}

/** Runs a program on the first host, and gives what it said. */
export async function said(one: Lab, ...argv: readonly string[]): Promise<string> {
  const [cow] = one.hosts
  assert.ok(cow)
  const shell = one.shells.open(cow.target({ name: 'look' }))
  const ran = await shell.run(argv)
  await shell.close()
  return `${ran.stdout}${ran.stderr}`
}

/** One HostConfig; `spec` is indented by two. */
export const config = (name: string, hosts: string, spec: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: HostConfig\nmetadata: {name: ${name}}\nspec:\n  hosts: [${hosts}]\n${spec}`

/** What these configurations come to on the lab's hosts. */
export async function declare(one: Lab, configs: string): Promise<Estate> {
  // One directory, as one person would have it: what another directory declared is not this one's to take back.
  const estate = await estateOf(join(one.directory, 'git'), {
    'hosts.yaml': hostsYaml(one),
    'config.yaml': configs,
  })
  assert.deepEqual(estate.problems, [])
  return estate
}
