import type { InstallOrder, NodeAnswer, PutFiles, RestoreOrder, StartOrder } from '../../k3s/node-program.ts'
import { DB, unitName, unitPath, unitRole } from '../k3s/disk.ts'
import { beginInstall } from '../k3s/install.ts'
import { restore } from '../k3s/restore.ts'
import { rotateAuthorities } from '../k3s/rotate-ca.ts'
import { rotateKeys } from '../k3s/rotate-keys.ts'
import { rotateToken } from '../k3s/rotate-token.ts'
import { restartService, serviceOf, startService, stopService } from '../k3s/service.ts'
import { saveSnapshot } from '../k3s/snapshots.ts'
import { applyManifestsSoon } from '../kubernetes/manifests.ts'
import { between } from '../world/chance.ts'
import type { Computer } from './computer.ts'
import { beginJob } from './job.ts'

export type Deed = (computer: Computer, args: readonly string[], input: string) => NodeAnswer

const OK: NodeAnswer = { ok: true }
const no = (error: string): NodeAnswer => ({ ok: false, error })

export const NODE_VERBS: Readonly<Record<string, Deed>> = {
  put: (computer, _, input) => {
    putFiles(computer, JSON.parse(input) as PutFiles)
    return OK
  },
  install: (computer, _, input) => beginInstall(computer, JSON.parse(input) as InstallOrder),
  start: (computer, _, input) => {
    const { role } = JSON.parse(input) as StartOrder
    const other = role === 'server' ? 'agent' : 'server'
    if (unitRole(computer.machine.files) === other && serviceOf(computer).process !== undefined) stopService(computer)
    computer.machine.files.remove(unitPath(other))
    computer.machine.enabled.delete(unitName(other))
    if (computer.machine.files.read(unitPath(role)) === undefined)
      computer.machine.files.write(unitPath(role), `[Service]\nExecStart=/usr/local/bin/k3s ${role}\n`)
    computer.machine.enabled.add(unitName(role))
    startService(computer)
    return OK
  },
  stop: (computer) => {
    stopService(computer)
    return OK
  },
  restart: (computer) => (restartService(computer) ? OK : no('there is no unit of K3s')),
  wipe: (computer) =>
    beginJob(computer, 'wipe', between(computer.world.random, computer.world.k3s.timing.wipeMs), (done) => {
      stopService(computer, () => {
        const { files, enabled } = computer.machine
        for (const path of ['/var/lib/rancher', '/etc/rancher', '/run/k3s']) files.remove(path)
        for (const role of ['server', 'agent'] as const) {
          files.remove(unitPath(role))
          enabled.delete(unitName(role))
        }
        done()
      })
    }),
  snapshot: (computer, [name = 'on-demand']) => saveSnapshot(computer, name),
  restore: (computer, _, input) => restore(computer, JSON.parse(input) as RestoreOrder),
  'forget-db': (computer) => {
    if (serviceOf(computer).process !== undefined) return no('K3s runs')
    computer.machine.files.remove(DB)
    return OK
  },
  'rotate-token': (computer, _, input) => rotateToken(computer, (JSON.parse(input) as { token: string }).token),
  'rotate-keys': (computer) => rotateKeys(computer),
  'rotate-ca': (computer, _, input) => rotateAuthorities(computer, JSON.parse(input) as PutFiles),
}

function putFiles(computer: Computer, { files }: PutFiles): void {
  if (computer.machine.trouble.diskFull === true) throw new Error('No space left on device')
  for (const { path, base64 } of files) computer.machine.files.write(path, Buffer.from(base64, 'base64'))
  if (files.some(({ path }) => path.includes('/server/manifests/'))) applyManifestsSoon(computer)
}
