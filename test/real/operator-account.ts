import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, recordsOf } from '../../src/kubernetes/objects.ts'
import { HELM } from '../helm-here.ts'
import { type OperatorGround, type RunningReplica, until } from './operator-ground.ts'

/* The chart as Helm renders it, on the real server, and croft with the rights of its service account alone. */

const CHART = join(import.meta.dirname, '../../deploy/chart')
export const ACCOUNT = 'system:serviceaccount:croft-system:croft'

/** Undefined: there is no Helm here. */
export function findHelm(
  ground: Pick<OperatorGround, 'folder'>,
): ((...words: readonly string[]) => string) | undefined {
  const helm = HELM
  if (helm === undefined) return undefined
  return (...words) => {
    const ran = spawnSync(helm, [...words], { encoding: 'utf8', env: { ...process.env, HOME: ground.folder } })
    assert.equal(ran.status, 0, ran.stderr)
    return ran.stdout
  }
}

const GRANT = {
  kinds: ['Machine'],
  connections: ['default'],
  hosts: ['fun-bedbug'],
  storages: ['local'],
  networks: ['vmbr0'],
  vmids: { from: 5000, to: 5019 },
}

export function renderChart(helmed: (...words: readonly string[]) => string, ...settings: readonly string[]): string {
  return helmed('template', 'croft', CHART, '-n', 'croft-system', ...settings)
}

export const lintChart = (helmed: (...words: readonly string[]) => string) => helmed('lint', '--strict', CHART)

/** Everything that can be switched on, applied; replicas are the chart's account from now on. */
export function installWhole(ground: OperatorGround, helmed: (...words: readonly string[]) => string): string {
  const values = join(ground.folder, 'values.json')
  writeFileSync(
    values,
    JSON.stringify({
      crossplane: { enabled: true },
      ownApis: {
        enabled: true,
        groups: ['kro.run', 'team.example.org'],
        clusterGroups: ['lab.example.org', 'team.example.org'],
        externals: [{ apiGroups: [''], resources: ['configmaps'] }],
      },
      grants: { 'team-a': GRANT },
    }),
  )
  const file = join(ground.folder, 'chart.yaml')
  writeFileSync(file, renderChart(helmed, '--values', values))
  ground.kubectl('apply', '-f', file)
  const grants = join(ground.folder, 'grants.yaml')
  const map = ['get', 'configmap', 'croft-grants', '-n', 'croft-system', '-o', 'jsonpath={.data.grants\\.yaml}']
  writeFileSync(grants, ground.kubectl(...map))
  ground.actAs('croft')
  return grants
}

/** A machine in a namespace that has a grant, from kubectl apply to its end. */
export async function keepsGranted(ground: OperatorGround, replica: RunningReplica): Promise<void> {
  await ground.own('Host', 'fun-bedbug', {
    connection: 'default',
    bindings: { networks: { lan: { bridge: 'vmbr0' } }, storages: { fast: 'local' } },
  })
  await ground.own('Network', 'lan', {})
  const machine = (name: string, host: string) => ({
    apiVersion: 'croft.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name },
    spec: {
      host,
      cpu: { cores: 1 },
      memory: '512Mi',
      disks: [{ size: '5Gi', storage: 'fast' }],
      networks: [{ network: 'lan', address: 'dhcp' }],
      power: 'off',
    },
  })
  const path = '/apis/croft.dev/v1alpha1/namespaces/team-a/machines'
  for (const one of [machine('team-a-web', 'fun-bedbug'), machine('team-a-far', 'still-fawn')]) {
    const made = await ground.client.create(path, one, 'make it')
    assert.equal(made.is, 'answer', JSON.stringify(made))
  }
  const synced = async (name: string) =>
    recordsOf(at(await ground.get(`${path}/${name}`), 'status', 'conditions')).find(({ type }) => type === 'Synced')
  const named = async (name: string) => [...(await ground.guests())].filter(([, guest]) => guest.name === name)
  await until('the machine is there', async () => (await named('team-a-web')).length === 1, replica)
  await until('it says so', async () => (await synced('team-a-web'))?.status === 'True', replica)
  const [[vmid] = [0]] = await named('team-a-web')
  assert.ok(vmid >= GRANT.vmids.from && vmid <= GRANT.vmids.to, `${vmid}`)
  await until('the other one is refused', async () => (await synced('team-a-far'))?.status === 'False', replica)
  assert.match(String((await synced('team-a-far'))?.message), /still-fawn/)
  await until(
    'there is an Event',
    () => ground.kubectl('get', 'events', '-n', 'team-a').includes('team-a-web'),
    replica,
  )
  ground.kubectl('delete', 'machine', 'team-a-web', '-n', 'team-a', '--timeout=200s')
  assert.equal((await named('team-a-web')).length, 0)
}
