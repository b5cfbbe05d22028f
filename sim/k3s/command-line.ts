import type { Outcome, Session } from '../guest/commands.ts'
import { text } from '../kubernetes/object.ts'
import { all } from '../kubernetes/store.ts'
import { isSet, readConfig } from './config-file.ts'
import { CLIENT_KUBELET, installedVersion, leafEnd, programVersion, unitRole } from './disk.ts'
import { clusterReset } from './restore.ts'
import { snapshotsOn, takeSnapshot } from './snapshots.ts'

/** `k3s …`: what a person or a script types on a computer. The first word is the path that it was called by. */
export function k3sCommand(args: readonly string[], session: Session): Outcome {
  const [path = '', command = '', verb = '', ...rest] = args
  const { files } = session.machine
  const version = path.includes('/') ? programVersion(files, path) : installedVersion(files)
  if (version === undefined) return { err: `sh: 1: ${path}: not found\n`, code: 127 }
  switch (`${command} ${verb}`.trim()) {
    case '--version':
      return { out: `${path.replace(/^.*\//, '')} version ${version} (0123abcd)\ngo version go1.26.8\n` }
    case 'kubectl get':
      return kubectlGet(rest, session)
    case 'etcd-snapshot save':
      return saveNow(rest, session)
    case 'etcd-snapshot ls':
    case 'etcd-snapshot list':
      return listNow(session)
    case 'secrets-encrypt status':
      return encryptionStatus(session)
    case 'certificate check':
      return certificateCheck(session)
  }
  if (command === 'server' && args.includes('--cluster-reset')) return resetNow(args.slice(2), session)
  return { err: `No help topic for '${command}'\n`, code: 3 }
}

const logged = (level: string, message: string, { nowMs }: Session) =>
  `time="${new Date(nowMs).toISOString().slice(0, 19)}Z" level=${level} msg=${JSON.stringify(message)}\n`

const fatal = (message: string, session: Session): Outcome => ({
  err: logged('fatal', `Error: ${message}`, session),
  code: 1,
})

/** The server on this computer, once it answers. */
function serverOn({ machine }: Session) {
  const process = machine.k3s?.process
  const answers = process?.phase === 'apiserver' || process?.phase === 'ready'
  return process?.cluster === undefined || !answers ? undefined : { process, cluster: process.cluster }
}

/**
 * `k3s kubectl get --raw /api/v1/nodes` and `get secrets --all-namespaces`: what the server on this computer holds, as
 * the administrator sees it. Secrets that were encrypted are told by a server that has the encryption too, and only by it.
 */
function kubectlGet(rest: readonly string[], session: Session): Outcome {
  const raw = rest[0] === '--raw' ? /^\/api\/v1\/([a-z]+)$/.exec(rest[1] ?? '')?.[1] : undefined
  const kinds = rest[0] === 'secrets' && rest.includes('custom-columns=TYPE:.type') && rest.includes('--all-namespaces')
  if (raw === undefined && !kinds) return { err: 'Error: unknown command\n', code: 1 }
  const found = serverOn(session)
  if (found === undefined) return { err: 'The connection to the server 127.0.0.1:6443 was refused\n', code: 1 }
  const { store, encryption } = found.cluster
  const [secret] = all(store, '/secrets')
  if ((kinds || raw === 'secrets') && encryption.enabled && !isSet(found.process.flags, 'secrets-encryption') && secret)
    return {
      err: `Error from server (InternalError): Internal error occurred: unable to transform key "/registry/secrets/${secret.metadata.namespace}/${secret.metadata.name}": identity transformer tried to read encrypted data\n`,
      code: 1,
    }
  if (kinds)
    return {
      out: all(store, '/secrets')
        .map((one) => `${text(one.type) || 'Opaque'}\n`)
        .join(''),
    }
  return { out: `${JSON.stringify({ kind: 'List', items: all(store, `/${raw}`) })}\n` }
}

function saveNow(rest: readonly string[], session: Session): Outcome {
  const found = serverOn(session)
  if (found === undefined) return fatal('see server log for details: connection refused', session)
  const before = new Set(snapshotsOn(session.computer).map(({ name }) => name))
  const problem = takeSnapshot(found.process, rest[rest.indexOf('--name') + 1] ?? 'on-demand')
  if (problem !== undefined) return fatal(`see server log for details: ${problem}`, session)
  const taken = snapshotsOn(session.computer).find(({ name }) => !before.has(name))
  return { err: logged('info', `Snapshot ${taken?.name ?? ''} saved.`, session) }
}

function listNow(session: Session): Outcome {
  const rows = snapshotsOn(session.computer).map(({ name, path, bytes, atMs }) => [
    name,
    `file://${path}`,
    `${bytes}`,
    new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z'),
  ])
  const all = [['Name', 'Location', 'Size', 'Created'], ...rows]
  const width = (column: number) => Math.max(...all.map((row) => (row[column] ?? '').length))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(width(column)))
      .join(' ')
      .trimEnd()
  return { out: `${all.map(line).join('\n')}\n` }
}

function encryptionStatus(session: Session): Outcome {
  const found = serverOn(session)
  if (found === undefined) return fatal('see server log for details: connection refused', session)
  const { enabled, stage } = found.cluster.encryption
  if (!enabled) return { out: 'Encryption Status: Disabled, no configuration file found\n' }
  return {
    out: `Encryption Status: Enabled\nCurrent Rotation Stage: ${stage}\nServer Encryption Hashes: All hashes match\n\nActive  Key Type  Name\n------  --------  ----\n *      AES-CBC   aescbckey\n\n`,
  }
}

function certificateCheck(session: Session): Outcome {
  const { files, k3s } = session.machine
  const role =
    unitRole(files) === 'agent' ? 'Agent detected, checking agent' : 'Server detected, checking agent and server'
  const node = k3s?.process?.nodeName
  const leaf = `client-kubelet.crt: certificate system:node:${node} (ClientAuth) is ok, expires at ${new Date(leafEnd(files) ?? session.nowMs).toISOString().slice(0, 19)}Z`
  const lines = [`${role} certificates`, ...(files.read(CLIENT_KUBELET) === undefined ? [] : [leaf])]
  return { err: lines.map((line) => logged('info', line, session)).join('') }
}

/** Flags on the command line win over config.yaml. */
function resetNow(words: readonly string[], session: Session): Outcome {
  const flags = new Map(readConfig(session.machine.files, 'server').flags)
  for (const word of words) {
    const given = /^--([a-z-]+)=(.*)$/s.exec(word)
    if (given !== null) flags.set(given[1] ?? '', [given[2] ?? ''])
  }
  const snapshot = flags.get('cluster-reset-restore-path')?.[0] ?? ''
  const { code, level, message, tookMs } = clusterReset(session.computer, flags, snapshot, false)
  session.tookMs += tookMs
  return { err: logged(level, message, session), code }
}
