import type { K3sProcess, World } from '../world/types.ts'
import { DATA } from './disk.ts'
import type { Bootstrap, Encryption } from './types.ts'

/** Files that differ by less are taken to be of one moment. */
const CLOCK_SKEW_MS = 3_000

/** What servers share through the datastore, as it lies on their disks: by path below the data directory's `server`. */
export function sharedFiles(bootstrap: Bootstrap, encryption: Encryption): ReadonlyMap<string, string> {
  const files = new Map([...bootstrap.files].map(([path, text]) => [`tls/${path}`, text]))
  files.set('cred/passwd', passwdText(bootstrap.password, bootstrap.agentPassword))
  if (encryption.enabled) {
    files.set('cred/encryption-config.json', `${JSON.stringify({ key: encryption.key, of: encryption.hash })}\n`)
    files.set('cred/encryption-state.json', `${encryption.stage}-${encryption.hash}`)
  }
  return files
}

export function passwdText(password: string, agentPassword: string | undefined): string {
  return `${agentPassword ?? password},node,node,k3s:agent\n${password},server,server,k3s:server\n`
}

/** Notes when content was first seen, on any disk: K3s preserves the times of files that it copies. */
export function noteContent(world: World, texts: Iterable<string>): void {
  for (const text of texts) if (!world.k3s.writtenMs.has(text)) world.k3s.writtenMs.set(text, world.clock.now())
}

export function writeShared(process: Pick<K3sProcess, 'computer'>, files: ReadonlyMap<string, string>): void {
  const { machine, world } = process.computer
  noteContent(world, files.values())
  for (const [path, text] of files) {
    const at = `${DATA}/server/${path}`
    if (machine.files.text(at) !== text) machine.files.write(at, text)
  }
}

/**
 * What a server does with the datastore's files before it starts: they are written where they are missing or older, and
 * a server that holds any newer one ends. Without one of the directories everything is written, and nothing compared.
 */
export function reconcileFiles(process: K3sProcess, shared: ReadonlyMap<string, string>): string | undefined {
  const { machine, world } = process.computer
  const { writtenMs } = world.k3s
  const compares = ['cred', 'tls', 'tls/etcd'].every(
    (folder) => machine.files.list(`${DATA}/server/${folder}`).length > 0,
  )
  const newer = [...shared].filter(([path, text]) => {
    const held = machine.files.text(`${DATA}/server/${path}`)
    if (held === undefined || held === text) return false
    const heldMs = writtenMs.get(held) ?? Number.POSITIVE_INFINITY
    return heldMs - (writtenMs.get(text) ?? 0) >= CLOCK_SKEW_MS
  })
  if (compares && newer.length > 0) {
    const paths = newer.map(([path]) => `${DATA}/server/${path}`).join(', ')
    return `${paths} newer than datastore and could cause a cluster outage. Remove the file(s) from disk and restart to be recreated from datastore.`
  }
  writeShared(process, shared)
  return undefined
}
