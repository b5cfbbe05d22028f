import { createHash } from 'node:crypto'
import { BACKUP_MOUNT, BACKUP_SECRET_FILE, BACKUP_UNIT_FILE, hashInSecret } from '../../src/k3s/backup-flags.ts'
import { GATES_UNIT } from '../../src/k3s/gates.ts'
import { OPTIONAL_FILES, REGISTRIES_FILE } from '../../src/k3s/node-files.ts'
import type { InstallInput, NodeAnswer, PutFiles, RestoreInput, StartInput } from '../../src/k3s/node-program.ts'
import { CONFIG_PATH } from '../k3s/config-file.ts'
import { countWipe, DATA, DB, installedVersion, unitName, unitPath, unitRole } from '../k3s/disk.ts'
import { isWritable, removeMember } from '../k3s/etcd.ts'
import { beginInstall, exchangeProgram } from '../k3s/install.ts'
import { putOut } from '../k3s/put-out.ts'
import { renewCertificates } from '../k3s/renew-certificates.ts'
import { restore } from '../k3s/restore.ts'
import { rotateAuthorities } from '../k3s/rotate-ca.ts'
import { rotateKeys } from '../k3s/rotate-keys.ts'
import { rotateToken } from '../k3s/rotate-token.ts'
import { restartService, serviceOf, startService, stopService } from '../k3s/service.ts'
import { contentOf, mountBackups, saveSnapshot, snapshotsBelow } from '../k3s/snapshots.ts'
import { applyManifestsSoon } from '../kubernetes/manifests.ts'
import { between } from '../world/chance.ts'
import type { Computer } from '../world/types.ts'
import { COPY_VERBS } from './copy-verbs.ts'
import type { Files } from './files.ts'
import { beginJob } from './job.ts'

export type Deed = (
  computer: Computer,
  args: readonly string[],
  input: string,
) => NodeAnswer & Readonly<Record<string, unknown>>

const OK: NodeAnswer = { ok: true }
const no = (error: string): NodeAnswer => ({ ok: false, error })

export const NODE_VERBS: Readonly<Record<string, Deed>> = {
  ...COPY_VERBS,
  put: (computer, _, input) => {
    putFiles(computer, JSON.parse(input) as PutFiles)
    return OK
  },
  install: (computer, _, input) => beginInstall(computer, JSON.parse(input) as InstallInput),
  start: (computer, _, input) => {
    const { role } = JSON.parse(input) as StartInput
    if (installedVersion(computer.machine.files) === undefined) return no('K3s is not installed')
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
    // Not enabled either: one that is put out of its cluster would come back by itself with the next boot.
    for (const role of ['server', 'agent'] as const) computer.machine.enabled.delete(unitName(role))
    stopService(computer)
    return OK
  },
  restart: (computer, [version, sum]) => {
    const role = unitRole(computer.machine.files)
    if (role === undefined) return no('K3s has no unit here')
    const problem = version === undefined ? undefined : exchangeProgram(computer.machine.files, version, sum)
    if (problem !== undefined) return no(problem)
    computer.machine.enabled.add(unitName(role))
    restartService(computer)
    return OK
  },
  wipe: (computer) =>
    beginJob(computer, 'wipe', between(computer.world.random, computer.world.k3s.timing.wipeMs), (done) => {
      stopService(computer, () => {
        const { files, enabled } = computer.machine
        for (const path of ['/etc/rancher', '/run/k3s']) files.remove(path)
        // Volumes, snapshots and images that came with the disk stay.
        removeAllBut(files, DATA, [`${DATA}/storage`, `${DB}/snapshots`, `${DATA}/agent/images`])
        for (const role of ['server', 'agent'] as const) {
          files.remove(unitPath(role))
          enabled.delete(unitName(role))
        }
        countWipe(files)
        done()
      })
    }),
  snapshot: (computer, [name = 'on-demand']) => saveSnapshot(computer, name),
  restore: (computer, _, input) => restore(computer, JSON.parse(input) as RestoreInput),
  backups: (computer, [place = '']) => {
    const files = backupsAt(computer, place)
    if (files === undefined) return no(`${place} could not be mounted`)
    return { ok: true, snapshots: snapshotsBelow(computer, place.startsWith('/') ? place : BACKUP_MOUNT, files) }
  },
  'token-of': (computer, [path = '', place]) => {
    mountBackups(computer)
    const files = place === undefined ? computer.machine.files : backupsAt(computer, place)
    if (files?.read(path) === undefined) return no(`there is no snapshot ${path}`)
    const content = contentOf(computer.world, files.text(path))
    return content === undefined
      ? no(`${path} does not say which token it was taken with`)
      : { ok: true, tokenHash: content.tokenHash }
  },
  'forget-db': (computer) => {
    if (serviceOf(computer).process !== undefined) return no('K3s still runs here')
    const { files } = computer.machine
    removeAllBut(files, DB, [`${DB}/snapshots`])
    for (const name of ['cred', 'tls']) files.remove(`${DATA}/server/${name}`)
    return OK
  },
  'remove-member': (computer, [id = '']) => {
    const cluster = computer.machine.k3s?.process?.cluster
    if (cluster === undefined || !isWritable(cluster)) return no('etcd does not answer here')
    const member = cluster.members.get(id)
    if (member === undefined) return OK
    if (removeMember(computer.world, cluster, id) !== undefined) return no(`etcd did not remove the member ${id}`)
    if (member.process !== undefined) putOut(member.process)
    return OK
  },
  leave,
  'rotate-token': (computer, _, input) => rotateToken(computer, (JSON.parse(input) as { token: string }).token),
  'rotate-keys': (computer) => rotateKeys(computer),
  'renew-certificates': renewCertificates,
  'rotate-ca': (computer, _, input) => rotateAuthorities(computer, JSON.parse(input) as PutFiles),
}

function backupsAt({ machine, world }: Computer, place: string): Files | undefined {
  return place.startsWith('/') ? machine.files : world.k3s.shares.get(place)
}

function leave({ machine: { files, enabled, job } }: Computer): NodeAnswer {
  if (job?.state === 'running') return no(`the job ${job.name} is still running`)
  for (const unit of ['k3s', 'k3s-agent']) {
    const folder = `/etc/systemd/system/${unit}.service.d`
    files.remove(`${folder}/10-croft-gates.conf`)
    if (files.list(folder).length === 0) files.remove(folder)
  }
  enabled.delete(GATES_UNIT.replace('.service', ''))
  files.remove(`/etc/systemd/system/${GATES_UNIT}`)
  for (const [from, to] of RENAMED) {
    const text = files.read(from)
    if (text === undefined || files.read(to) !== undefined) continue
    files.write(to, text)
    files.remove(from)
  }
  const config = files.text(CONFIG_PATH)
  if (config !== undefined) files.write(CONFIG_PATH, Buffer.from(config.replace(/^# croft: .*\n/, ''), 'latin1'))
  for (const name of files.list('/usr/local/bin'))
    if (/^\.k3s.*\.croft(?:-new)?$/.test(name)) files.remove(`/usr/local/bin/${name}`)
  for (const path of ['/etc/croft', '/run/croft', '/usr/local/lib/croft']) files.remove(path)
  return OK
}

const RENAMED = [
  ['/etc/sysctl.d/90-croft-k3s.conf', '/etc/sysctl.d/90-k3s.conf'],
  ['/etc/modules-load.d/croft-k3s.conf', '/etc/modules-load.d/k3s.conf'],
] as const

/** Croft's own by name; registries.yaml by the way in which croft alone begins it. */
export function optionalFiles(files: Files): Readonly<Record<string, string>> {
  const there = OPTIONAL_FILES.flatMap((path) => {
    const text = files.text(path)
    if (text === undefined || (path === REGISTRIES_FILE && !text.startsWith('{"mirrors":'))) return []
    const declared = path === BACKUP_SECRET_FILE ? hashInSecret(text) : undefined
    return [[path, declared ?? createHash('sha256').update(text).digest('hex')] as const]
  })
  return Object.fromEntries(there)
}

function removeAllBut(files: Files, folder: string, kept: readonly string[]): void {
  for (const name of files.list(folder)) {
    const path = `${folder}/${name}`
    if (kept.includes(path)) continue
    if (kept.some((one) => one.startsWith(`${path}/`))) removeAllBut(files, path, kept)
    else files.remove(path)
  }
}

const MAY_WRITE =
  /^\/(etc\/rancher|var\/lib\/rancher\/k3s|etc\/croft|usr\/local\/lib\/croft)\/|^\/etc\/systemd\/system\/(croft-|k3s[^/]*\.service\.d\/)|^\/etc\/(modules-load\.d\/croft-|sysctl\.d\/[^/]*croft)/

function putFiles(computer: Computer, { files, absent = [] }: PutFiles): void {
  const refused = files.find(({ path }) => !MAY_WRITE.test(path) || path.includes('..'))
  if (refused !== undefined) throw new Error(`the path of a file may not be used: ${refused.path}`)
  if (computer.machine.trouble.diskFull === true) throw new Error('No space left on device')
  const share = computer.machine.files.text(BACKUP_UNIT_FILE)
  for (const { path, base64 } of files) computer.machine.files.write(path, Buffer.from(base64, 'base64'))
  if (computer.machine.files.text(BACKUP_UNIT_FILE) !== share) mountBackups(computer)
  for (const path of absent) if (path in optionalFiles(computer.machine.files)) computer.machine.files.remove(path)
  if (files.some(({ path }) => path.includes('/server/manifests/'))) applyManifestsSoon(computer)
}
