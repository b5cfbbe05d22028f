import assert from 'node:assert/strict'
import { addBox, wake } from '../../sim/metal/box.ts'
import { redfishWire } from '../../sim/metal/redfish.ts'
import { etcdOf } from './cluster-oracle.ts'
import { simulateCluster } from './cluster-run.ts'
import { hostsEstate } from './hosts-run.ts'
import { powerManifest, until } from './power-run.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'

interface MetalBox {
  readonly name: string
  /** How it is switched on again. */
  readonly by: 'bmc' | 'packet'
}

function host({ name, by }: MetalBox, at: number): string {
  const way =
    by === 'packet' ? `wake: {mac: "${mac(at)}"}` : `bmc: {address: ${name}, user: root, password: {env: BMC}}`
  return `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${name}}
spec:
  ssh: {address: 192.168.4.${10 + at}, hostKeys: ["${HOST_KEY}"]}
  ${way}
`
}

function mac(at: number): string {
  return `52:54:00:00:00:0${at + 1}`
}

/** A cluster on separate boxes, each with a management controller or a network card that listens. */
export async function metalCluster(
  seed: number,
  boxes: readonly MetalBox[],
  nodes: string,
  power: string,
): Promise<ReturnType<typeof simulateCluster> & { readonly packets: readonly string[] }> {
  const packets: string[] = []
  const simulation = simulateCluster({
    seed,
    preset: 'empty',
    estate: hostsEstate(metalManifests(boxes, nodes, power)),
    power: ({ world }) => ({
      async sendDatagram(_address, _port, bytes) {
        const called = Buffer.from(bytes.slice(6, 12))
          .toString('hex')
          .replace(/(..)(?=.)/g, '$1:')
        packets.push(called)
        wake(world, called)
      },
      openBmc: ({ address }) => redfishWire(world, address),
    }),
  })
  for (const [at, { name }] of boxes.entries())
    addBox(simulation.datacentre.world, {
      name,
      addresses: [`192.168.4.${10 + at}`],
      mac: mac(at),
      bootMs: [20_000, 40_000],
    })
  const first = simulation.start()
  const ready = await until(
    simulation,
    first,
    (report) => report.settled && etcdOf(simulation, '')?.kubelets.size === boxes.length,
    3_600_000,
  )
  first.kill()
  assert.ok(ready, `the cluster never formed; seed ${seed}`)
  return Object.assign(simulation, { packets })
}

/** The boxes, the cluster on them and its Power. */
export function metalManifests(boxes: readonly MetalBox[], nodes: string, power: string): readonly string[] {
  const cluster = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: homelab}
spec:
  version: v1.34.3+k3s1
  endpoint: {vip: 192.168.4.79, kubeVip: {version: v1.0.3}}
${nodes}`
  const hosts = `  hosts: [${boxes.map(({ name }) => `{name: ${name}}`).join(', ')}]\n`
  return [...boxes.map(host), cluster, powerManifest(hosts + power).replace(/^---\n/, '')]
}
