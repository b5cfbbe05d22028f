import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createQuorumWatch, etcdOf, nodesOf } from './cluster-oracle.ts'
import { BOXES, example, hostsEstate, simulateHosts } from './hosts-run.ts'
import { quietFor } from './oracle.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'host-restarts.test.ts'
const HOSTS = example('host-config/hosts.yaml')
const CLUSTER = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: farm}
spec:
  version: v1.34.3+k3s1
  endpoint: {dns: k3s.farm.example}
  servers:
    - {machine: Host/cow, addresses: [192.168.14.2]}
    - {machine: Host/sheep, addresses: [192.168.14.3]}
    - {machine: Host/duck, addresses: [192.168.14.4]}
  upgrade: {soak: 10s}
`
const kernel = (args: string, reboot: string) => `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: kernel}
spec:
  hosts: {labels: {role: k3s}}
  reboot: ${reboot}
  kernel: {args: [${args}]}
`
const estate = (args: string, reboot = 'allowed') => hostsEstate([HOSTS, CLUSTER, kernel(args, reboot)])

async function formed(seed: number, hint: string) {
  const run = simulateHosts({ seed, estate: estate('cgroup_memory=1') })
  assert.equal(await run.untilSettled(run.start()), 'settled', `it did not form; ${hint}`)
  return run
}

const bootsOf = (run: ReturnType<typeof simulateHosts>) =>
  BOXES.map((name) => run.deedsOf(name).filter((deed) => deed === 'boot').length)

test('[A24] boxes that are servers are restarted one at a time: cordoned, drained, back, and the quorum stays', async () => {
  for (const seed of seeds(1, 50)) {
    const hint = replay(FILE, seed)
    const run = await formed(seed, hint)
    const before = bootsOf(run)
    const watch = createQuorumWatch(run, hint)
    run.estate = estate('cgroup_memory=1, mitigations=auto')
    const steps: string[] = []
    const end = await run.untilSettled(run.start(), {
      onPass: ({ clusters = [] }) => {
        watch.look()
        const down = BOXES.filter((name) => !run.box(name).booted)
        assert.ok(down.length <= 1, `${down.join(' and ')} are down at once; ${hint}`)
        for (const step of clusters.flatMap(({ decision }) => decision.steps)) {
          const line = `${step.verb} ${step.node}`
          if (steps.at(-1) !== line) steps.push(line)
        }
        for (const name of down) {
          const cluster = etcdOf(run, hint)
          const node = cluster && nodesOf(cluster).find(({ metadata }) => metadata.name === name)
          assert.equal(node?.spec?.unschedulable, true, `${name} went down undrained; ${hint}`)
        }
      },
    })
    assert.equal(end, 'settled', hint)
    assert.deepEqual(
      bootsOf(run),
      before.map((count) => count + 1),
      `each is restarted once; ${hint}`,
    )
    for (const name of BOXES) {
      assert.match(run.textOf(name, '/proc/cmdline'), /mitigations=auto/, hint)
      const mine = steps.filter((line) => line.endsWith(` ${name}`)).map((line) => line.split(' ')[0])
      const order = ['cordon', 'restart-machine', 'uncordon'].map((verb) => mine.indexOf(verb))
      assert.deepEqual(
        order.toSorted((one, other) => one - other),
        order,
        `${mine.join(', ')}; ${hint}`,
      )
      assert.ok(!order.includes(-1), `${mine.join(', ')}; ${hint}`)
    }
    assert.equal(watch.lowest(), 0, `at most one voter was down, and one was: else nothing is proved; ${hint}`)
    await quietFor(run, 3, hint)
  }
})

test('a restart of a box that nobody allowed is said and not done', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint)
  const before = bootsOf(run)
  run.estate = estate('cgroup_memory=1, mitigations=auto', 'refused')
  const process = run.start()
  const reports = await run.passes(process, 8)
  assert.deepEqual(bootsOf(run), before)
  const refused = reports.at(-1)?.plan.entries.filter(({ action }) => action.do === 'refuse') ?? []
  assert.equal(refused.length, 3)
  assert.deepEqual(reports.at(-1)?.clusters?.[0]?.decision.steps, [], 'nobody is cordoned for it')
})
