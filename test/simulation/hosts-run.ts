import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addBox } from '../../sim/metal/box.ts'
import { addBoot, addDisk, hostStateOf, textAt } from '../../sim/metal/host-state.ts'
import type { Box } from '../../sim/world/types.ts'
import type { Estate } from '../../src/model/estate.ts'
import { simulateCluster } from './cluster-run.ts'
import { estateFrom } from './manifests.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples')

export const BOXES = ['cow', 'sheep', 'duck'] as const
export type HostsRun = ReturnType<typeof simulateHosts>

/** A file of the examples, as people get it. */
export function example(path: string): string {
  return readFileSync(join(EXAMPLES, path), 'utf8')
}

/** The boxes, their configuration and the cluster on them, as the examples have it. */
export function farm(more: { readonly config?: string; readonly cluster?: string } = {}): Estate {
  const { config = example('host-config/k3s-ready.yaml'), cluster = example('k3s-metal/cluster.yaml') } = more
  return hostsEstate([example('host-config/hosts.yaml'), config, cluster])
}

/** Throws where they are not valid: a test of nothing proves nothing. */
export function hostsEstate(texts: readonly string[]): Estate {
  const estate = estateFrom({ 'estate.yaml': texts.filter((text) => text !== '').join('---\n') })
  const errors = estate.problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ message, field }) => `${field}: ${message}`).join('\n'))
  // Only the ways that are needed: these runs have neither a Proxmox nor anything kept inside the cluster.
  const used = new Set(estate.resources.map(({ connection }) => connection))
  return { ...estate, connections: estate.connections.filter(({ name }) => used.has(name)) }
}

/** Two Raspberry Pis and a small PC, as their systems come out of an image. */
export function simulateHosts(options: Parameters<typeof simulateCluster>[0]) {
  const run = simulateCluster({ preset: 'empty', ...options })
  const { world } = run.datacentre
  const box = (name: string): Box => {
    const found = world.metal.get(name)
    if (found === undefined) throw new Error(`there is no box ${name}`)
    return found
  }
  for (const [at, name] of BOXES.entries()) {
    const made = addBox(world, {
      name,
      addresses: [`192.168.14.${at + 2}`, `fd12:3456:789a:14::${at + 2}`],
      bootMs: [20_000, 40_000],
      ...(name === 'duck' ? { mac: '6c:4b:90:00:00:04' } : {}),
    })
    addBoot(made, name === 'duck' ? 'grub' : 'raspberry-pi')
  }
  addDisk(box('cow'), 'nvme-Samsung_SSD_980_1TB_S64ANS0T512345X', 'S64ANS0T512345X', 'ext4')
  addDisk(box('sheep'), 'nvme-Samsung_SSD_980_1TB_S64ANS0T598765Y', 'S64ANS0T598765Y', 'ntfs')
  return Object.assign(run, {
    box,
    deedsOf: (name: string): readonly string[] => hostStateOf(box(name)).deeds,
    textOf: (name: string, path: string) => textAt(box(name), path),
  })
}

const MOST_MS = 2 * 3_600_000

/** One command, until everything is as declared. At no moment does K3s run on a box that is not ready for it. */
export async function applied(run: HostsRun, hint: string): Promise<void> {
  const end = await run.untilSettled(run.start(), {
    mostMs: MOST_MS,
    onPass: () => {
      for (const name of ['cow', 'sheep']) {
        const started = run.box(name).machine.k3s?.process !== undefined
        const cmdline = run.textOf(name, '/proc/cmdline')
        if (started) assert.match(cmdline, /cgroup_memory=1 cgroup_enable=memory/, `A15 ${name} is not ready; ${hint}`)
      }
    },
  })
  assert.equal(end, 'settled', hint)
}
